import type {Config} from '../../platform/config/config.ts';
import type {Db} from '../../platform/db/db.ts';
import type {ClickHouse} from '../../visits/click-stores/clickhouse/clickhouse.ts';
import {inputError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import type {Io} from '../terminal/io.ts';

/** The database in a question to the operator, without its password. */
const placeOf = ({databaseUrl, dataDir}: Pick<Config, 'databaseUrl' | 'dataDir'>): string => {
	if (databaseUrl === null) {
		return `DATA_DIR ${dataDir}`;
	}

	const {host, pathname, searchParams} = new URL(databaseUrl);
	return `database ${decodeURIComponent(pathname.slice(1))} of ${searchParams.get('host') ?? host}`;
};

/**
 * Opens the configured database for `work` and closes it again, also after Ctrl-C.
 * @param work gets its name for questions, too. @param exclusive refuses concurrent servers of the same DATA_DIR.
 * @param writable refuses a database that accepts no changes.
 */
export const withDatabase = async <T>(
	{io}: Pick<Context, 'io'>,
	work: (db: Db, place: string) => Promise<T>,
	{exclusive = false, writable = false} = {},
): Promise<T> => {
	// Loaded lazily, because most commands never use a database.
	const [{loadConfig}, {createLog}, {asOperatorError, openDatabase, requireWritable}] = await Promise.all([
		import('../../platform/config/config.ts'),
		import('../../start/log.ts'),
		import('../../platform/db/open-database.ts'),
	]);
	const config = loadConfig(io.env, {isTerminal: io.stderr.isTTY === true});
	// The database's log lines matter only if requested or after a failure.
	const logLevel = io.env['LOG_LEVEL'] ? config.logLevel : 'warn';
	const {db, close} = await openDatabase(config, createLog({...config, logLevel}), {
		exclusive,
		interruption: io.interruption,
	});
	try {
		if (writable) {
			await requireWritable(db);
		}

		return await work(db, placeOf(config));
	} catch (error) {
		throw asOperatorError(error, config);
	} finally {
		await close();
	}
};

/** The ClickHouse of CLICKS_URL. @throws OperatorError if it is not set. */
export const clickHouseOf = async ({env}: Pick<Io, 'env'>): Promise<ClickHouse> => {
	const [
		{readVariables},
		{readSecrets, textsOf},
		{variables},
		{clickHouseUrlFault, readClickHouseUrl},
		{createClickHouse},
	] = await Promise.all([
		import('../../platform/config/variable.ts'),
		import('../../platform/config/secrets.ts'),
		import('../../platform/config/variables.ts'),
		import('../../platform/config/database-url.ts'),
		import('../../visits/click-stores/clickhouse/clickhouse.ts'),
	]);
	const {clicksUrl} = readVariables(variables, textsOf(env, readSecrets(env, ['CLICKS_URL'])), []);
	if (clicksUrl === null || clickHouseUrlFault(clicksUrl) !== null) {
		throw inputError('CLICKS_URL must be set to the address of the ClickHouse that has the raw clicks');
	}

	return createClickHouse(readClickHouseUrl(clicksUrl));
};
