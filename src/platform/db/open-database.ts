import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {type Config, ConfigError} from '../config/config.ts';
import {isConnectionFault} from '../connection-fault.ts';
import {startEmbeddedPostgres} from '../embedded/postgres.ts';
import {within} from '../within.ts';
import {needed, neededToWrite, readServerFacts} from './check-server.ts';
import {
	type DatabaseFault,
	DatabaseSilentError,
	explainDatabaseError,
	faultSentence,
	isMistake,
} from './database-faults.ts';
import {closeDb, createDb, type Db} from './db.ts';
import {checkPooler} from './pooler.ts';
import {execute, sql} from './sql.ts';

/** An open database and its `close`; the last user of an embedded one stops it. */
export type OpenDatabase = {db: Db; close(): Promise<void>};

/** How long a start waits for an external database that is still starting, as in a compose file. */
const START_TIMEOUT_MS = 30_000;
const PAUSE_MS = 500;
/** How long a close waits for connections in use: the pool would wait forever for work that does not end. */
const CLOSE_MS = 1000;
/** The interval of warnings during the wait. */
const BETWEEN_WARNINGS_MS = 10_000;

type Time = {now: () => number; pause: (milliseconds: number) => Promise<unknown>};

/**
 * An external database's error as a message for its operator; any other error unchanged.
 * @param databaseUrl null for the embedded database, whose errors are faults of Oplink.
 */
export const asOperatorError = (error: unknown, {databaseUrl}: Pick<Config, 'databaseUrl'>): unknown => {
	const explained = databaseUrl === null ? null : explainDatabaseError(error);
	if (explained === null) {
		return error;
	}

	const sentence = faultSentence(explained);
	return isMistake(error) ? new ConfigError([sentence]) : new DatabaseSilentError(sentence);
};

/** Waits until the database answers. @throws its refusal, the last error after the timeout, or the pause's. */
export const waitForServer = async (db: Db, log: Logger, {now, pause}: Time): Promise<void> => {
	const began = now();
	let warned = Number.NEGATIVE_INFINITY;
	for (;;) {
		try {
			await execute(db, sql`SELECT 1`);
			return;
		} catch (error) {
			if (!isConnectionFault(error) || isMistake(error) || now() - began > START_TIMEOUT_MS) {
				throw error;
			}

			if (now() - warned >= BETWEEN_WARNINGS_MS) {
				warned = now();
				log.warn({reason: (error as Error).message}, 'the database does not answer yet');
			}
		}

		await pause(PAUSE_MS);
	}
};

const requireNone = (found: ReadonlyArray<DatabaseFault | null>): void => {
	const faults = found.flatMap((fault) => (fault === null ? [] : [faultSentence(fault)]));
	if (faults.length > 0) {
		throw new ConfigError(faults);
	}
};

/** @throws ConfigError if tables cannot be created and written. */
export const requireWritable = async (db: Db): Promise<void> => requireNone([neededToWrite(await readServerFacts(db))]);

const closeSoon = async (db: Db): Promise<void> => {
	await within(CLOSE_MS, closeDb(db));
};

const openExternal = async (
	url: string,
	listenUrl: string | null,
	log: Logger,
	interruption: AbortSignal | undefined,
): Promise<OpenDatabase> => {
	const db = createDb(url, {listenUrl});
	try {
		await waitForServer(db, log, {
			now: () => performance.now(),
			pause: (milliseconds) => delay(milliseconds, undefined, interruption && {signal: interruption}),
		});
		const facts = await readServerFacts(db);
		requireNone([...Object.values(needed).map((requirement) => requirement(facts)), await checkPooler(db)]);
		return {db, close: () => closeSoon(db)};
	} catch (error) {
		await closeDb(db);
		const explained = asOperatorError(error, {databaseUrl: url});
		throw explained instanceof ConfigError || explained instanceof DatabaseSilentError
			? explained
			: new ConfigError([`DATABASE_URL could not be used: ${(error as Error).message}`]);
	}
};

/**
 * The configured database: DATABASE_URL, else the embedded PostgreSQL in DATA_DIR.
 * @param exclusive for DATA_DIR's only server; a command joins a running one.
 * @param interruption ends the wait for an external database, and the creation of the embedded one. @throws ConfigError for an external
 * database that refuses us, does not answer or is unsuitable; DataDirInUseError, EmbeddedPostgresError.
 */
export const openDatabase = async (
	config: Pick<Config, 'databaseUrl' | 'databaseListenUrl' | 'dataDir'>,
	log: Logger,
	{exclusive = false, interruption}: {exclusive?: boolean; interruption?: AbortSignal} = {},
): Promise<OpenDatabase> => {
	if (config.databaseUrl !== null) {
		return openExternal(config.databaseUrl, config.databaseListenUrl, log, interruption);
	}

	const embedded = await startEmbeddedPostgres({dataDir: config.dataDir, log, exclusive, interruption});
	const db = createDb(embedded.connection);
	return {
		db,
		close: async () => {
			await closeSoon(db);
			await embedded.stop();
		},
	};
};
