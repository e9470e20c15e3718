/** An open connection of the driver. */
type Connection = {query(text: string): Promise<unknown>};

/** The result of the last of several statements. */
type LastOf = Array<{rows: Array<{server: string}>}>;

/**
 * Settings that the code relies on in every session, whatever a role, a database or postgresql.conf sets: the text
 * formats of values, and no timeouts except Oplink's own, as in pg_dump. The timeouts come first, because they could
 * interrupt the rest.
 */
const settings: ReadonlyArray<[name: string, value: string]> = [
	['statement_timeout', '0'],
	['lock_timeout', '0'],
	['idle_in_transaction_session_timeout', '0'],
	['idle_session_timeout', '0'],
	['client_encoding', 'UTF8'],
	['timezone', 'UTC'],
	['datestyle', 'ISO, MDY'],
	['intervalstyle', 'postgres'],
	['bytea_output', 'hex'],
	['extra_float_digits', '1'],
	['standard_conforming_strings', 'on'],
	['array_nulls', 'on'],
	['transform_null_equals', 'off'],
	['default_transaction_isolation', 'read committed'],
	['default_transaction_deferrable', 'off'],
];

/** A timeout that PostgreSQL has since version 17. */
const newer =
	"SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('server_version_num')::int >= 170000";

const statementFor = ([name, value]: readonly [string, string]): string => `SET ${name} = '${value}'`;

/** Differs between the servers before and after a failover. */
const server = 'SELECT pg_postmaster_start_time()::text AS server';

const setUp = [newer, ...settings.map(statementFor), server].join(';\n');

/** Settings that PgBouncer keeps for each of its clients, whichever session runs their transactions. */
const KEPT_BY_POOLERS = new Set(['client_encoding', 'timezone', 'datestyle', 'standard_conforming_strings']);

const setUpShared = [...settings.filter(([name]) => KEPT_BY_POOLERS.has(name)).map(statementFor), server].join(';\n');

/** Settings that sessions shared through a pooler must have from the server, because setting them would affect others. */
export const sharedSettings: ReadonlyMap<string, string> = new Map([
	...settings.filter(([name]) => !KEPT_BY_POOLERS.has(name)),
	['transaction_timeout', '0'],
]);

const QUERY_CANCELED = '57014';
const MAX_ATTEMPTS = 20;

/**
 * Prepares a new session. It uses a statement instead of startup parameters, because poolers reject unknown ones.
 * @param isShared whether a pooler lends the session to others between transactions.
 * @returns the start time of its server, which differs from that of other servers.
 */
export const setUpSession = async (connection: Connection, {isShared = false} = {}): Promise<string> => {
	for (let attempt = 1; ; attempt += 1) {
		try {
			const results = (await connection.query(isShared ? setUpShared : setUp)) as LastOf;
			return results.at(-1)?.rows[0]?.server ?? '';
		} catch (error) {
			// On a busy machine the timeout that it is about to lift may interrupt it; nothing is set then.
			if (attempt === MAX_ATTEMPTS || (error as {code?: unknown}).code !== QUERY_CANCELED) {
				throw error;
			}
		}
	}
};
