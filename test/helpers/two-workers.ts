import {createDb} from '../../src/db/db.ts';
import {startFromOutside, type TestService} from './service.ts';
import {startWorkers, type Workers} from './workers.ts';

/**
 * Runs the tests of this process that speak to a service from outside against one program with two workers, for each
 * environment that they ask for.
 */
export const answerByTwoWorkers = (common: Record<string, string>): void => {
	const programs = new Map<string, {started: Promise<Workers>; users: number}>();
	startFromOutside(async (env): Promise<TestService> => {
		const name = JSON.stringify(env);
		const program = programs.get(name) ?? {started: startWorkers({...common, ...env}), users: 0};
		programs.set(name, program);
		program.users += 1;
		const {service, databaseUrl, stop} = await program.started;
		// Rows may be looked at; the rest of the services is in the workers.
		const db = createDb(databaseUrl, {poolSize: 2});
		return {
			...service,
			services: {db} as TestService['services'],
			stop: async () => {
				await db.destroy();
				program.users -= 1;
				if (program.users === 0) {
					programs.delete(name);
					await stop();
				}
			},
		};
	});
};
