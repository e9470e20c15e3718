import {randomBytes} from 'node:crypto';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {TestFn} from 'ava';
import {pino} from 'pino';
import {createApiKeyStore} from '../../src/accounts/api-keys/api-key-store.ts';
import type {Clock} from '../../src/platform/clock.ts';
import {loadConfig} from '../../src/platform/config/config.ts';
import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {compile} from '../../src/platform/db/sql.ts';
import {createFaultSampler, createLog} from '../../src/start/log.ts';
import {type RunningService, startService as start} from '../../src/start/server.ts';
import {requireSameStore} from '../../src/visits/click-stores/clickhouse/storage-location.ts';
import {clicksInFull} from '../../src/visits/clicks/click-sql.ts';
import {createTestDatabase, type TestDatabase} from './database.ts';
import {startedFor} from './started.ts';

/** A clock that a test moves. */
export type FakeClock = Clock & {advance(seconds: number): void; set(at: Date): void};

/** @param elapsed milliseconds by which it has moved by itself. */
const clockFrom = (at: Date, elapsed: () => number): FakeClock => {
	let start = at.getTime() - elapsed();
	return {
		now: () => new Date(start + elapsed()),
		advance: (seconds) => {
			start += seconds * 1000;
		},
		set: (to) => {
			start = to.getTime() - elapsed();
		},
	};
};

/** A clock that stands still until a test moves it. */
export const createFakeClock = (at = new Date('2026-03-10T12:00:00.000Z')): FakeClock => clockFrom(at, () => 0);

/** The machine's clock, for what compares it with others' until a test moves it. */
export const createRunningClock = (): FakeClock => clockFrom(new Date(), () => performance.now());

export type TestService = RunningService & {clock: FakeClock; adminToken: string; databaseUrl: string};

/** A stable database is waited for, so that a test has the same result on a busy machine. */
const PATIENT = {connectMs: 60_000, acquireMs: 60_000};

let outside: ((env: Record<string, string>) => Promise<TestService>) | null = null;

/**
 * From now on `start` provides the usual services of this process: the program from outside, without a movable clock or
 * services to inspect.
 */
export const startFromOutside = (start: typeof outside): void => {
	outside = start;
};

/**
 * The real service on a free port, over a fresh clone of the migrated template database and with a fake clock.
 * @param env variables that differ from the defaults; loopback is a trusted proxy, so that each caller of a test can
 * have an address of its own.
 * @param given a database that the test made; a clone of its own otherwise.
 * @param logged where log lines go, for a test that reads them.
 */
export const startService = async (
	env: Record<string, string> = {},
	givenClock?: FakeClock,
	given?: TestDatabase,
	logged: {write(line: string): void} = pino.destination(2),
): Promise<TestService> => {
	if (outside !== null && givenClock === undefined && given === undefined) {
		return outside(env);
	}

	const clock = givenClock ?? createFakeClock();
	const database = given ?? (await createTestDatabase());
	const dataDir = await mkdtemp(path.join(tmpdir(), 'oplink-data-'));
	const adminToken = randomBytes(24).toString('hex');
	const config = loadConfig({
		PORT: '0',
		ADMIN_TOKEN: adminToken,
		TRUSTED_PROXIES: '127.0.0.0/8,::1/128',
		LOG_LEVEL: 'silent',
		SHUTDOWN_TIMEOUT: '2',
		DATA_DIR: dataDir,
		...env,
	});
	const sampler = createFaultSampler(clock);
	const log = createLog(config, sampler, logged);
	// Enough for races; each further session of PostgreSQL would read the catalog again, for 12 ms of CPU.
	const db = createDb(database.url, {poolSize: 4, ...(given === undefined ? {timeouts: PATIENT} : {})});
	if (config.clicksUrl !== null) {
		await requireSameStore(db, config.clicksUrl);
	}

	const running = await start({config, clock, log, adminToken: config.adminToken ?? adminToken, db});
	return {
		...running,
		clock,
		adminToken: config.adminToken ?? adminToken,
		databaseUrl: database.url,
		stop: async () => {
			await running.stop();
			sampler.flush();
			await rm(dataDir, {recursive: true, force: true});
			await closeDb(db);
			await database.drop();
		},
	};
};

/** A service for all tests of a file. @param env, clock as `startService` takes them. */
export const serviceOf = (test: TestFn, env: Record<string, string> = {}, clock?: FakeClock): TestService =>
	startedFor(test, () => startService(env, clock));

/** Rows of a table, including all answered clicks; clicks with their contexts. */
export const storedRows = async (
	{services}: TestService,
	table: 'clicks' | 'match_clicks' | 'click_counts',
	where: Record<string, unknown>,
) => {
	await services.clickJournal.flushed();
	return services.db
		.from(services.db.raw(table === 'clicks' ? `${compile(clicksInFull).text} AS clicks` : table))
		.where(where);
};

/** Whether keys of an organization are there; used to see what a first read provisions. */
export const countKeys = async ({services}: TestService, organizationId: string): Promise<number> =>
	(await createApiKeyStore(services.db).listCurrent(organizationId)).length;
