/** A connection of the driver that is open. */
type Connection = {query(text: string): Promise<unknown>};

/**
 * What the code relies on in every session, whatever a role, a database or postgresql.conf sets: the texts of values, and that
 * nothing ends a statement, a transaction or an idle connection but Oplink itself, as for pg_dump. Whoever wants to protect the
 * machine from long statements has other users than this one. The time-outs come first, so that they cannot hit the rest.
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

/** Settings of later versions than the oldest that works. */
const newer = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'";

const setUp = [...settings.map(([name, value]) => `SET ${name} = '${value}'`), newer].join(';\n');

/**
 * Prepares a session that was just opened. A statement and no startup parameter, as poolers refuse those that they do not know.
 */
export const setUpSession = async (connection: Connection): Promise<void> => {
	await connection.query(setUp);
};
