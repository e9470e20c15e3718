import knex, {type Knex} from 'knex';
import pg from 'pg';
import {driverUrl} from '../config/database-url.ts';
import {setUpSession} from './session.ts';

/** A pool or a transaction: a store is built over either, so the same statements run inside and outside of one. */
export type Db = Knex;

/** Where PostgreSQL is: a connection URL, or the parts of one (a socket folder as `host`). */
export type DbConnection = string | {host: string; port: number; user: string; password: string; database: string};

/** How long a connection may take to come up, and a statement to get one of the pool's: then the caller gets 503. */
const TIMEOUTS = {connectMs: 2000, acquireMs: 5000};

/** SQLSTATE of a write where only reading is possible: a standby, or a database that was set so. */
export const READ_ONLY = '25006';

type Connection = {
	query(text: string): Promise<unknown>;
	end(): Promise<void>;
	/** The protocol of the connection, which hears every refusal, whoever asked. */
	connection: {on(event: 'errorMessage', listener: (refusal: {code?: string}) => void): void};
	/** Why the pool does not give the connection out any more. */
	__knex__disposed?: string;
};

/** What the pool does with a connection before it gives it out. */
const prepareConnection = (connection: Connection, done: (error?: unknown) => void): void => {
	// A session keeps what it was opened with: one that could only read goes on so when the database takes writes again.
	connection.connection.on('errorMessage', ({code}) => {
		if (code === READ_ONLY) {
			connection.__knex__disposed = 'the session can only read';
		}
	});
	setUpSession(connection).then(
		() => done(),
		async (error: unknown) => {
			// The pool forgets a connection that it could not prepare.
			await connection.end().catch(() => {});
			done(error);
		},
	);
};

/**
 * A client whose connection ends where it cannot log in. The driver leaves it open where it gives up by itself, as without a
 * password, and with it the process runs on until PostgreSQL loses its patience, a minute later.
 */
const createClient = (settings: pg.ClientConfig) => {
	const client = new pg.Client(settings);
	const {connection} = client as unknown as {connection: {stream: {destroy(): void}}};
	const connect = client.connect.bind(client) as () => Promise<unknown>;
	return Object.assign(client, {
		connect: async () => {
			try {
				await connect();
			} catch (error) {
				connection.stream.destroy();
				throw error;
			}
		},
	});
};

const withDriver = (db: Db): Db => {
	// knex makes clients by `new`, and takes what that gives.
	db.client.driver = {
		...pg,
		Client: function Client(settings: pg.ClientConfig) {
			return createClient(settings);
		},
	};
	return db;
};

/** A pool of connections. Nothing is opened before the first query. Every session is set up, see `setUpSession`. */
export const createDb = (connection: DbConnection, {poolSize = 10, timeouts = TIMEOUTS} = {}): Db =>
	withDriver(
		knex({
			client: 'pg',
			// What knex would ask every pool for, and uses for nothing that is done here.
			version: '14.0',
			connection: {
				...(typeof connection === 'string' ? {connectionString: driverUrl(connection)} : connection),
				application_name: 'oplink',
				connectionTimeoutMillis: timeouts.connectMs,
				keepAlive: true,
			},
			pool: {min: 0, max: poolSize, propagateCreateError: true, afterCreate: prepareConnection},
			acquireConnectionTimeout: timeouts.acquireMs,
			// Whatever goes wrong is thrown to the statement's caller, which logs it with its request.
			log: {warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {}},
		}),
	);

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export const inTransaction = <T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> =>
	db.transaction((trx) => work(trx));

/** The constraint or unique index that a statement violated, by its name in the migrations; otherwise null. */
export const violatedConstraint = (error: unknown): string | null => {
	const {code, constraint} = (error ?? {}) as {code?: unknown; constraint?: unknown};
	const isViolation = typeof code === 'string' && code.startsWith('23');
	return isViolation && typeof constraint === 'string' ? constraint : null;
};

/**
 * The fault that `faults` names for the constraint that `error` violated, else `error` itself: what a statement that
 * can fail throws on, so that the constraint decides and the check is not written twice.
 */
export const translateViolation = (error: unknown, faults: Record<string, () => Error>): unknown => {
	const constraint = violatedConstraint(error);
	return (constraint !== null && faults[constraint]?.()) || error;
};

/** Whether a statement was refused for what is in it, so that it would be refused again: SQLSTATE classes 22 and 23. */
export const isRefusedValue = (error: unknown): boolean => {
	const {code} = (error ?? {}) as {code?: unknown};
	return typeof code === 'string' && /^2[23]/.test(code);
};

const CONNECTION_CODES = new Set([
	'ECONNREFUSED',
	'ECONNRESET',
	'ENOENT',
	'EPIPE',
	'ETIMEDOUT',
	'EHOSTUNREACH',
	'ENETUNREACH',
	'ENOTFOUND',
	'EAI_AGAIN',
]);
// Class 08 is 'connection exception', 57P0x 'the server is going down or coming up', 53 'insufficient resources' such as a
// full disk, 57014 a statement that an operator canceled, 58030 'input/output error', 25006 a database that only reads, such as a
// standby after a failover (PostgreSQL, appendix A).
const UNAVAILABLE_STATES = /^(?:08|53|57P0|57014|58030|25006)/;
const CONNECTION_MESSAGES =
	/connection terminated|timeout expired|timeout exceeded when trying to connect|acquiring a connection|client has encountered a connection error/i;

/** Whether the database could not be reached, went away, has no room, or only reads: the caller gets 503 and may come back. */
export const isConnectionFault = (error: unknown): boolean => {
	if (!(error instanceof Error)) {
		return false;
	}

	const {code, syscall} = error as {code?: unknown; syscall?: unknown};
	if (
		typeof code === 'string' &&
		(UNAVAILABLE_STATES.test(code) || (CONNECTION_CODES.has(code) && syscall !== 'open'))
	) {
		return true;
	}

	return CONNECTION_MESSAGES.test(error.message) || error.name === 'KnexTimeoutError';
};

/**
 * Whether the database takes no writes now: a standby, or one that was set so. What is asked is a write that changes nothing: it is
 * refused for every such reason, and the session that was refused is not used again.
 */
export const isReadOnly = async (db: Db): Promise<boolean> => {
	try {
		await db.raw('UPDATE leases SET holder = holder WHERE false');
		return false;
	} catch (error) {
		if ((error as {code?: unknown}).code === READ_ONLY) {
			return true;
		}

		throw error;
	}
};

/** What a search pattern needs so that `%` and `_` are literal (contract/links 6). */
export const likeLiteral = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** The single row of a statement that always gives one. */
export const onlyRow = <T>(rows: T[]): T => {
	const [row] = rows;
	if (row === undefined) {
		throw new Error('a statement returned no row where one was expected');
	}

	return row;
};
