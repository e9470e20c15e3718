import {type Db, onlyRow} from '../db/db.ts';
import {migrationStatus} from '../db/migrate.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, warn, fail} = findingsOf('Database');

/** PostgreSQL 14, as `server_version_num` counts. */
const LEAST_VERSION = 140_000;
/** Seconds that the clocks of database and server may differ before rates, windows and expiries feel it. */
const CLOCK_TOLERANCE = 5;

const checkVersion = (version: string, number: number, mode: string): Finding =>
	number >= LEAST_VERSION
		? ok('database.version', `PostgreSQL ${version}, ${mode}`)
		: fail('database.version', `PostgreSQL ${version} is older than 14`, 'Move the database to PostgreSQL 14 or later');

const checkClock = (differenceSeconds: number): Finding =>
	Math.abs(differenceSeconds) <= CLOCK_TOLERANCE
		? ok('database.clock', 'its clock agrees with that of the server')
		: warn(
				'database.clock',
				`its clock is ${Math.abs(Math.round(differenceSeconds))} s ${differenceSeconds > 0 ? 'ahead of' : 'behind'} that of the server`,
				'Have both machines keep the time by NTP',
			);

const checkMigrations = async (db: Db): Promise<Finding> => {
	const pending = (await migrationStatus(db)).flatMap(({name, appliedAt}) => (appliedAt === null ? [name] : []));
	return pending.length === 0
		? ok('database.migrations', 'every migration is applied')
		: fail(
				'database.migrations',
				`${pending.length} migration(s) pending: ${pending.join(', ')}`,
				'Run oplink migrate up, or start the server again',
			);
};

/**
 * The database: reachable, its version, its clock against ours, and whether migrations are pending.
 * @param now the machine's time, without CLOCK_OFFSET.
 */
export const checkDatabase = async (
	db: Db,
	{mode, now}: {mode: 'embedded' | 'external'; now: () => Date},
): Promise<Finding[]> => {
	try {
		const {rows} = await db.raw<{rows: Array<{version: string; number: number; at: Date}>}>(
			`SELECT current_setting('server_version') AS version,
				CAST(current_setting('server_version_num') AS integer) AS number, clock_timestamp() AS at`,
		);
		const {version, number, at} = onlyRow(rows);
		return [
			checkVersion(version, number, mode),
			checkClock((at.getTime() - now().getTime()) / 1000),
			await checkMigrations(db),
		];
	} catch (error) {
		return [
			fail(
				'database.reachable',
				`it cannot be used: ${(error as Error).message}`,
				mode === 'external' ? 'Start PostgreSQL, or correct DATABASE_URL' : 'Start the server again; its log says why',
			),
		];
	}
};
