import type {ExecutionContext, TestFn} from 'ava';

type Stoppable = {stop(): Promise<unknown> | unknown};

/** A resource of one test, stopped after it. */
export const startedIn = async <T extends Stoppable>(
	t: Pick<ExecutionContext, 'teardown'>,
	starting: Promise<T>,
): Promise<T> => {
	const started = await starting;
	t.teardown(() => started.stop());
	return started;
};

/**
 * A resource shared by all tests of a file: started before the first of them, stopped after the last. It exists from
 * the beginning, but has members only while tests run.
 */
export const startedFor = <T extends Stoppable>(test: TestFn, start: () => Promise<T>): T => {
	let started: T | undefined;
	test.serial.before(async () => {
		started = await start();
	});
	test.after.always(() => started?.stop());
	return new Proxy({} as T, {
		get: (_target, name) => {
			if (started === undefined) {
				throw new Error(`${String(name)} is read before the tests have begun`);
			}

			return Reflect.get(started, name);
		},
	});
};
