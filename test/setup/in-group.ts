import type {TestFn} from 'ava';

/**
 * Tests of a process that are under way at once. Each of them alone may be a burst, which a service has to stand, but
 * all of a group's at once would only wait for each other.
 */
const AT_ONCE = 8;

type Implementation = (...given: unknown[]) => unknown;
type Macro = {exec: Implementation; title?: (given: string | undefined, ...args: unknown[]) => string};
type Declare = (title: string, implementation: Implementation, ...args: unknown[]) => void;

let underWay = 0;
const waiting: Array<() => void> = [];

const inTurn =
	(implementation: Implementation): Implementation =>
	async (...given) => {
		if (underWay === AT_ONCE) {
			await new Promise<void>((resolve) => waiting.push(resolve));
		} else {
			underWay += 1;
		}

		try {
			await implementation(...given);
		} finally {
			const next = waiting.shift();
			if (next === undefined) {
				underWay -= 1;
			} else {
				next();
			}
		}
	};

/** The ways to declare a test: `test(title?, implementation or macro, ...args)`. */
const namedAfter =
	(file: string, declare: Declare) =>
	(...given: unknown[]): void => {
		const title = typeof given[0] === 'string' ? given[0] : undefined;
		const [implementation, ...args] = title === undefined ? given : given.slice(1);
		const {exec, title: titleOf}: Macro =
			typeof implementation === 'function' ? {exec: implementation as Implementation} : (implementation as Macro);
		declare(`${file} › ${titleOf?.(title, ...args) ?? title}`, inTurn(exec), ...args);
	};

/**
 * Ava as a test file finds it that shares its process with others: the file's name is put before each title, which has
 * to be there once in a process. What would act on the tests of the other files is missing: `beforeEach`, `afterEach`,
 * `only`, and a context that hooks fill.
 */
export const inGroup = (test: TestFn, file: string) =>
	Object.assign(namedAfter(file, test as Declare), {
		before: test.before,
		after: test.after,
		macro: test.macro,
		serial: namedAfter(file, test.serial as Declare),
		skip: namedAfter(file, test.skip as Declare),
	});
