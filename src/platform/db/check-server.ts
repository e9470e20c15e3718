import type {DatabaseFault} from './database-faults.ts';
import {type Db, onlyRow, sharesSessions} from './db.ts';
import {checkListening} from './feed/check-listening.ts';
import {lifeOfSessions} from './pooler.ts';
import {lackingSettings} from './session.ts';

/** Properties of a server and its database. */
type ServerFacts = {
	version: string;
	/** In the format of `server_version_num`. */
	number: number;
	encoding: string;
	searchPath: string;
	/** The current schema; null if no schema of search_path exists. */
	schema: string | null;
	mayCreate: boolean | null;
	isStandby: boolean;
	isReadOnly: boolean;
	user: string;
	at: Date;
};

/** PostgreSQL 14. */
const MIN_VERSION = 140_000;

export const readServerFacts = async (db: Db): Promise<ServerFacts> => {
	const {rows} = await db.raw<{rows: ServerFacts[]}>(
		`SELECT current_setting('server_version') AS version,
			CAST(current_setting('server_version_num') AS integer) AS number,
			current_setting('server_encoding') AS encoding,
			current_setting('search_path') AS "searchPath",
			current_schema() AS schema,
			has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
			pg_is_in_recovery() AS "isStandby",
			current_setting('transaction_read_only') = 'on' AS "isReadOnly",
			current_user AS user,
			clock_timestamp() AS at`,
	);
	return onlyRow(rows);
};

/** The areas of checks, as named by doctor. */
export type ServerCheck = 'version' | 'encoding' | 'schema' | 'writable' | 'pooler';

/** A requirement: null if the server meets it. */
type Requirement = (facts: ServerFacts) => DatabaseFault | null;

/** Required for every use of the database. */
export const needed: Readonly<Record<Exclude<ServerCheck, 'writable' | 'pooler'>, Requirement>> = {
	version: ({version, number}) =>
		number >= MIN_VERSION
			? null
			: {fault: `PostgreSQL ${version} is older than 14`, remedy: 'Move the database to PostgreSQL 14 or later'},
	encoding: ({encoding}) =>
		encoding === 'UTF8'
			? null
			: {
					fault: `the encoding of the database is ${encoding}, and not UTF8`,
					remedy: "Create it again: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
				},
	schema: ({schema, searchPath, user}) =>
		schema === null
			? {
					fault: `search_path (${searchPath}) names no schema that user ${user} may use`,
					remedy: `Create one (CREATE SCHEMA … AUTHORIZATION "${user}"), or set search_path for the user`,
				}
			: null,
};

/** Required for changes: migrations, and monthly partitions. */
export const neededToWrite: Requirement = ({isStandby, isReadOnly, schema, mayCreate, user}) => {
	if (isReadOnly) {
		return isStandby
			? {fault: 'the database is read-only because it is a standby', remedy: 'Point DATABASE_URL to the primary'}
			: {
					fault: 'the database is read-only (default_transaction_read_only is on)',
					remedy: 'Free disk space if its disk is full, and set default_transaction_read_only to off',
				};
	}

	return schema === null || mayCreate
		? null
		: {
				fault: `user ${user} may not create tables in the schema ${schema}`,
				remedy: `As its owner run: GRANT CREATE, USAGE ON SCHEMA "${schema}" TO "${user}"`,
			};
};

const POOLED: DatabaseFault = {
	fault: 'a pooler in front of PostgreSQL shares sessions between transactions (PgBouncer: pool_mode = transaction)',
	remedy:
		'Set DATABASE_LISTEN_URL to PostgreSQL itself for the one connection that listens, or set pool_mode = session for this database',
};

const POOLED_BY_STATEMENT: DatabaseFault = {
	fault: 'a pooler in front of PostgreSQL allows no transactions (PgBouncer: pool_mode = statement)',
	remedy: 'Set pool_mode = transaction or session for this database, or point DATABASE_URL to PostgreSQL itself',
};

/** Whether the sessions that a pooler shares have the settings that the code relies on. */
const checkSharedSettings = async (db: Db): Promise<DatabaseFault | null> => {
	const {rows} = await db.raw<{rows: Array<{user: string}>}>('SELECT session_user AS user');
	const lacking = await lackingSettings({query: (text) => db.raw(text)});
	return lacking.length === 0
		? null
		: {
				fault: 'the sessions that the pooler shares have other settings than Oplink relies on',
				remedy: `As their user run: ${lacking.map((one) => `ALTER ROLE "${onlyRow(rows).user}" SET ${one};`).join(' ')} and let the pooler connect anew (PgBouncer: RECONNECT)`,
			};
};

/** Whether sessions last as long as the code relies on them. */
export const checkPooler = async (db: Db): Promise<DatabaseFault | null> => {
	const life = await lifeOfSessions(db);
	if (life === 'statement') {
		return POOLED_BY_STATEMENT;
	}

	if (!sharesSessions(db)) {
		return life === 'transaction' ? POOLED : null;
	}

	return (await checkSharedSettings(db)) ?? (await checkListening(db));
};
