import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {startFromOutside, type TestService} from './service.ts';
import {startWorkers, type Workers} from './workers.ts';

/** Runs this process's black-box tests against one program with two workers per environment. */
export const answerByTwoWorkers = (common: Record<string, string>): void => {
	const programs = new Map<string, {started: Promise<Workers>; users: number}>();
	startFromOutside(async (env): Promise<TestService> => {
		const name = JSON.stringify(env);
		const program = programs.get(name) ?? {started: startWorkers({...common, ...env}), users: 0};
		programs.set(name, program);
		program.users += 1;
		const {service, databaseUrl, stop} = await program.started;
		// Rows may be inspected; the other services are in the workers.
		const db = createDb(databaseUrl, {poolSize: 2});
		return {
			...service,
			services: {db} as TestService['services'],
			stop: async () => {
				await closeDb(db);
				program.users -= 1;
				if (program.users === 0) {
					programs.delete(name);
					await stop();
				}
			},
		};
	});
};
