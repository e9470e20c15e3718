import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {type Config, ConfigError} from '../config.ts';
import {startEmbeddedPostgres} from '../embedded/postgres.ts';
import {createDb, type Db, isConnectionFault} from './db.ts';

/** An open database, and how to let go of it: an embedded one is stopped where nobody else uses it. */
export type OpenDatabase = {db: Db; close(): Promise<void>};

/** How long a start waits for an external database that is still coming up, as in a compose file. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;
/** The log says at once that it waits, and then now and then. */
const BETWEEN_WARNINGS_MS = 10_000;

type Time = {now: () => number; pause: (milliseconds: number) => Promise<unknown>};

/** Waits until the database answers. @throws ConfigError where it refuses us, what keeps it from answering for too long. */
export const waitForServer = async (
	db: Db,
	log: Logger,
	{now, pause}: Time = {now: () => performance.now(), pause: delay},
): Promise<void> => {
	const began = now();
	let warned = Number.NEGATIVE_INFINITY;
	for (;;) {
		try {
			await db.raw('SELECT 1');
			return;
		} catch (error) {
			if (!isConnectionFault(error)) {
				throw new ConfigError([`DATABASE_URL could not be used: ${(error as Error).message}`]);
			}

			if (now() - began > PATIENCE_MS) {
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

/**
 * The database that the configuration names: DATABASE_URL, else the embedded PostgreSQL in DATA_DIR.
 * @param exclusive whether this is the one server of the DATA_DIR; a command joins what runs there.
 * @throws ConfigError for a URL that the server refuses, DataDirInUseError, EmbeddedPostgresError, or what keeps the external database from answering.
 */
export const openDatabase = async (
	config: Pick<Config, 'databaseUrl' | 'dataDir'>,
	log: Logger,
	{exclusive = false} = {},
): Promise<OpenDatabase> => {
	if (config.databaseUrl !== null) {
		const db = createDb(config.databaseUrl);
		try {
			await waitForServer(db, log);
		} catch (error) {
			await db.destroy();
			throw error;
		}

		return {db, close: () => db.destroy()};
	}

	const embedded = await startEmbeddedPostgres({dataDir: config.dataDir, log, exclusive});
	const db = createDb(embedded.connection);
	return {
		db,
		close: async () => {
			await db.destroy();
			await embedded.stop();
		},
	};
};
