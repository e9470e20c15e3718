/** An open connection of the driver. */
type Connection = {query(text: string): Promise<unknown>};

/**
 * Settings that the code relies on in every session, whatever a role, a database or postgresql.conf sets: the text
 * formats of values, and no timeouts but Oplink's own, as in pg_dump. Limit long statements for other users than this
 * one. The timeouts come first, so that they cannot interrupt the rest.
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

/** Settings that the oldest supported version lacks. */
const newer = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'";

const setUp = [...settings.map(([name, value]) => `SET ${name} = '${value}'`), newer].join(';\n');

const QUERY_CANCELED = '57014';
const TRIES = 5;

/** Prepares a new session. It uses a statement instead of startup parameters, because poolers reject unknown ones. */
export const setUpSession = async (connection: Connection): Promise<void> => {
	for (let left = TRIES - 1; ; left -= 1) {
		try {
			await connection.query(setUp);
			return;
		} catch (error) {
			// On a busy machine the timeout that it is about to lift may interrupt it; nothing is set then.
			if (left === 0 || (error as {code?: unknown}).code !== QUERY_CANCELED) {
				throw error;
			}
		}
	}
};
