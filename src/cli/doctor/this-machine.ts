import {existsSync} from 'node:fs';
import path from 'node:path';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {createClock} from '../../platform/clock.ts';
import type {Config} from '../../platform/config/config.ts';
import type {Io} from '../terminal/io.ts';

const HINT = 'oplink config lists the variables; run the CLI with the environment of the server';

const database = async (config: Config, io: Io): Promise<Finding[]> => {
	const area = findingsOf('Database');
	// Checking must not create an embedded database.
	if (config.databaseUrl === null && !existsSync(path.join(config.dataDir, 'postgres'))) {
		return [area.ok('database.reachable', 'there is none yet; the first start creates one in DATA_DIR')];
	}

	const [{checkDatabase}, {closeDb, createDb}, {openDatabase}, {createLog}] = await Promise.all([
		import('../../operations/doctor/database.ts'),
		import('../../platform/db/db.ts'),
		import('../../platform/db/open-database.ts'),
		import('../../start/log.ts'),
	]);
	const now = createClock(0).now;
	if (config.databaseUrl !== null) {
		const db = createDb(config.databaseUrl, {poolSize: 2, listenUrl: config.databaseListenUrl});
		return checkDatabase(db, {mode: 'external', now}).finally(() => closeDb(db));
	}

	try {
		const logLevel = io.env['LOG_LEVEL'] ? config.logLevel : 'silent';
		const {db, close} = await openDatabase(config, createLog({...config, logLevel}));
		return await checkDatabase(db, {mode: 'embedded', now}).finally(close);
	} catch (error) {
		return [area.fail('database.reachable', `it cannot be opened: ${(error as Error).message}`, 'Follow the message')];
	}
};

/**
 * Diagnoses a server on this machine that does not answer. It assumes that the server has this process's environment,
 * and checks which of its parts are reachable.
 */
export const examineThisMachine = async (io: Io): Promise<Finding[]> => {
	const [
		{loadConfig},
		{checkConfiguration},
		{checkRedisAt},
		{checkClickStore},
		{createClickHouse},
		{readClickHouseUrl},
		{checkDisk},
		{checkIdentityProvider},
	] = await Promise.all([
		import('../../platform/config/config.ts'),
		import('../../operations/doctor/configuration.ts'),
		import('../../operations/doctor/redis.ts'),
		import('../../operations/doctor/clicks.ts'),
		import('../../visits/click-stores/clickhouse/clickhouse.ts'),
		import('../../platform/config/database-url.ts'),
		import('../../operations/doctor/disk.ts'),
		import('../../operations/doctor/identity-provider.ts'),
	]);
	let config: Config;
	try {
		config = loadConfig(io.env);
	} catch (error) {
		const faults = (error as {faults?: string[]}).faults ?? [(error as Error).message];
		return faults.map((fault) => findingsOf('Configuration').fail('configuration.fault', fault, HINT));
	}

	const {redisUrl, clicksUrl} = config;
	const areas = await Promise.all([
		checkConfiguration(config),
		database(config, io),
		checkRedisAt(redisUrl),
		checkClickStore(clicksUrl === null ? null : () => createClickHouse(readClickHouseUrl(clicksUrl)).ping()),
		checkDisk(config.dataDir),
		checkIdentityProvider(config),
	]);
	return areas.flat();
};
