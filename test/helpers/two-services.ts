import {createTestDatabase} from './database.ts';
import {createFakeClock, startService, type TestService} from './service.ts';

/** Two services over one database, which have heard each other: until then neither keeps anything in memory. */
export const startTwoServices = async (
	env: Record<string, string>,
): Promise<{one: TestService; other: TestService; stop(): Promise<void>}> => {
	const database = await createTestDatabase();
	const shared = {url: database.url, drop: async () => {}};
	const one = await startService(env, createFakeClock(), shared);
	const other = await startService(env, createFakeClock(), shared);
	await Promise.all([one.services.changes.settled(), other.services.changes.settled()]);
	return {
		one,
		other,
		stop: async () => {
			await one.stop();
			await other.stop();
			await database.drop();
		},
	};
};
