import {READ_ONLY} from './connections.ts';
import type {DatabaseFault} from './database-faults.ts';
import {type Db, onlyRow} from './db.ts';
import {execute, run, sql} from './sql.ts';

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

export const readServerFacts = async (db: Db): Promise<ServerFacts> =>
	onlyRow(
		await run<ServerFacts>(
			db,
			sql`SELECT current_setting('server_version') AS version,
				current_setting('server_version_num')::integer AS number,
				current_setting('server_encoding') AS encoding,
				current_setting('search_path') AS "searchPath",
				current_schema() AS schema,
				has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
				pg_is_in_recovery() AS "isStandby",
				current_setting('transaction_read_only') = 'on' AS "isReadOnly",
				current_user AS user,
				clock_timestamp() AS at`,
		),
	);

/**
 * Whether the database is read-only now, such as a standby. The check is a write without effect: every such condition
 * rejects it, and the rejected session is not used again.
 */
export const isReadOnly = async (db: Db): Promise<boolean> => {
	try {
		await execute(db, sql`UPDATE leases SET holder = holder WHERE false`);
		return false;
	} catch (error) {
		if ((error as {code?: unknown}).code === READ_ONLY) {
			return true;
		}

		throw error;
	}
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
