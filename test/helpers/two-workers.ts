import {createDb} from '../../src/db/db.ts';
import {startFromOutside, type TestService} from './service.ts';
import {startWorkers, type Workers} from './workers.ts';

/** Runs the tests of this process that speak to a service from outside against one program with two workers. */
export const answerByTwoWorkers = (env: Record<string, string>): void => {
	let started: Promise<Workers> | null = null;
	let users = 0;
	startFromOutside(async (): Promise<TestService> => {
		users += 1;
		started ??= startWorkers(env);
		const {service, databaseUrl, stop} = await started;
		// Rows may be looked at; the rest of the services is in the workers.
		const db = createDb(databaseUrl, {poolSize: 2});
		return {
			...service,
			services: {db} as TestService['services'],
			stop: async () => {
				await db.destroy();
				users -= 1;
				if (users === 0) {
					started = null;
					await stop();
				}
			},
		};
	});
};
