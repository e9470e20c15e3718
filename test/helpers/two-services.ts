import {createTestDatabase} from './database.ts';
import {createFakeClock, startService, type TestService} from './service.ts';

/** Two services over one database that have received each other's heartbeats: before that neither caches anything. */
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
