import type {ExecutionContext, TestFn} from 'ava';

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

/** What a file has made before its first test, and unmade as soon as none of its own is left. */
const lifeOf = (test: TestFn) => {
	const befores: Implementation[] = [];
	const afters: Implementation[] = [];
	let left = 0;
	let opening: Promise<void> | null = null;
	const open = async (given: unknown[]): Promise<void> => {
		for (const before of befores) {
			await before(...given);
		}
	};
	const close = async (given: unknown[]): Promise<void> => {
		for (const after of afters.splice(0)) {
			await after(...given);
		}
	};
	return {
		before: (hook: Implementation): void => void befores.push(hook),
		after: {
			always: (hook: Implementation): void => {
				if (afters.length === 0) {
					// Where tests were left out by their titles, the last of the file is never run.
					test.after.always((t) => (opening === null ? undefined : close([t])));
				}

				afters.push(hook);
			},
		},
		during: (implementation: Implementation): Implementation => {
			left += 1;
			return async (...given) => {
				// Registered first, it is run last: after what the test itself takes back.
				(given[0] as ExecutionContext).teardown(async () => {
					left -= 1;
					if (left === 0) {
						await close(given);
					}
				});
				opening ??= open(given);
				await opening;
				await implementation(...given);
			};
		},
	};
};

type Life = ReturnType<typeof lifeOf>;

/** The ways to declare a test: `test(title?, implementation or macro, ...args)`. */
const namedAfter =
	(file: string, {during}: Pick<Life, 'during'>, declare: Declare) =>
	(...given: unknown[]): void => {
		const title = typeof given[0] === 'string' ? given[0] : undefined;
		const [implementation, ...args] = title === undefined ? given : given.slice(1);
		const {exec, title: titleOf}: Macro =
			typeof implementation === 'function' ? {exec: implementation as Implementation} : (implementation as Macro);
		declare(`${file} › ${titleOf?.(title, ...args) ?? title}`, inTurn(during(exec)), ...args);
	};

/** One that is never run, so that nothing waits for it to end. */
const skipped = {during: (implementation: Implementation) => implementation};

/**
 * Ava as a test file finds it that shares its process with others: the file's name is put before each title, which has
 * to be there once in a process, and its hooks run with its first and its last test, because a service that waits for
 * the other files' tests computes all the while; an end is `after.always`. What would act on the tests of the other files is
 * missing: `beforeEach`, `afterEach`, `only`, and a context that hooks fill.
 */
export const inGroup = (test: TestFn, file: string) => {
	const life = lifeOf(test);
	return Object.assign(namedAfter(file, life, test as Declare), {
		before: life.before,
		after: life.after,
		macro: test.macro,
		serial: namedAfter(file, life, test.serial as Declare),
		skip: namedAfter(file, skipped, test.skip as Declare),
	});
};
