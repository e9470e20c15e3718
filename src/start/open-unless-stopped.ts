import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import type {Config} from '../platform/config/config.ts';
import {migrateUp} from '../platform/db/migrate.ts';
import {asOperatorError, type OpenDatabase, openDatabase, requireWritable} from '../platform/db/open-database.ts';
import {requireSameStore} from '../visits/click-stores/clickhouse/storage-location.ts';

/** The signals that stop a server. */
export const STOPS = ['SIGINT', 'SIGTERM'] as const;

export type Stop = (typeof STOPS)[number];

/** The first of these signals. */
export const nextSignal = (): Promise<Stop> =>
	new Promise((resolve) => {
		for (const signal of STOPS) {
			process.once(signal, () => resolve(signal));
		}
	});

/** The exit code of a start that a signal ends (contract/operations 15). systemd, which sends SIGTERM, expects 0. */
export const exitCodeOfStop: Readonly<Record<Stop, number>> = {SIGINT: 130, SIGTERM: 0};

/** Seconds of a stop for statements, beyond those for requests: the most that an unresponsive database delays it. */
export const DATABASE_GRACE_SECONDS = 5;

/** Opens the database and applies all migrations. The embedded one must have no other server. */
const openMigrated = async (config: Config, log: Logger, interruption: AbortSignal): Promise<OpenDatabase> => {
	const database = await openDatabase(config, log, {exclusive: true, interruption});
	try {
		interruption.throwIfAborted();
		await requireWritable(database.db);
		const applied = await migrateUp(database.db, log);
		log.info({applied}, 'migrations are up to date');
		await requireSameStore(database.db, config.clicksUrl);
		return database;
	} catch (error) {
		await database.close();
		throw asOperatorError(error, config);
	}
};

/**
 * Opens the database, unless a signal arrives first and ends the process: nothing listens yet. An external database that
 * does not answer cannot delay the end; PostgreSQL rolls back uncommitted work. The embedded one must not outlive the
 * server: it is closed within DATABASE_GRACE_SECONDS; after that it stops by itself.
 */
export const openUnlessStopped = async (config: Config, log: Logger, signal: Promise<Stop>): Promise<OpenDatabase> => {
	const interruption = new AbortController();
	const opening = openMigrated(config, log, interruption.signal);
	const early = await Promise.race([signal, opening.then(() => null)]);
	if (early !== null) {
		interruption.abort();
		if (config.databaseUrl === null) {
			// The database may have been opened at the same moment. If opening failed, the interruption is the cause.
			const closed = opening.then(({close}) => close()).catch(() => {});
			await Promise.race([closed, delay(DATABASE_GRACE_SECONDS * 1000)]);
		}

		log.info({signal: early}, 'stopped before it was ready');
		process.exit(exitCodeOfStop[early]);
	}

	return opening;
};
