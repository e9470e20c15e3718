import knex, {type Knex} from 'knex';
import pg from 'pg';
import {driverUrl} from '../config/database-url.ts';
import {type Connections, createConnections} from './connections.ts';
import {isForeignCall} from './database-faults.ts';
import {setUpSession} from './session.ts';

/** A pool or a transaction. Stores accept either, so the same statements run inside and outside of transactions. */
export type Db = Knex;

/** PostgreSQL's address: a connection URL, or its parts (a socket folder as `host`). */
type DbConnection = string | {host: string; port: number; user: string; password: string; database: string};

type PoolOptions = {
	poolSize: number;
	timeouts: {connectMs: number; acquireMs: number};
	listenUrl: string | null;
};

/**
 * How long a connection may take to open, and a statement to get one from the pool; then the caller gets 503. A burst as
 * large as the limits allow must be answered on a busy machine, too.
 */
const TIMEOUTS = {connectMs: 10_000, acquireMs: 15_000};

/** How long a connection is silent before the system asks the server whether it is there, ten times in as many seconds. */
const KEEP_ALIVE_MS = 10_000;

/** SQLSTATE of a write to a standby or another read-only database. */
export const READ_ONLY = '25006';

type Connection = {
	query(text: string): Promise<unknown>;
	end(): Promise<void>;
	/** The protocol of the connection, which sees every error, whoever ran the statement. */
	connection: {on(event: 'errorMessage', listener: (refusal: {code?: string}) => void): void};
	/** Why the pool must not hand the connection out any more. */
	__knex__disposed?: string;
};

/** How often a session is opened that ends before it is prepared. */
const TRIES = 5;

type Own = {listenWith: pg.ClientConfig | null; connections: Connections};

/** Prepares a connection before the pool hands it out. */
const prepareConnection = async (connection: Connection, {listenWith, connections}: Own): Promise<void> => {
	// A session keeps its mode: one opened read-only stays so when the database becomes writable again.
	connection.connection.on('errorMessage', ({code}) => {
		if (code === READ_ONLY) {
			connection.__knex__disposed = 'the session can only read';
		}
	});
	try {
		connections.note(connection, await setUpSession(connection, {isShared: listenWith !== null}));
	} catch (error) {
		await connection.end().catch(() => {});
		throw error;
	}
};

const withOwnConnections = (db: Db, own: Own): Db => {
	const {client} = db;
	// knex calls this with `new` and uses the returned object.
	client.driver = {
		...pg,
		Client: function Client(settings: pg.ClientConfig) {
			return own.connections.create(settings);
		},
	};
	const open: () => Promise<Connection> = client.acquireRawConnection.bind(client);
	client.acquireRawConnection = async () => {
		for (let left = TRIES - 1; ; left -= 1) {
			const connection = await open();
			try {
				await prepareConnection(connection, own);
				return connection;
			} catch (error) {
				// The timeouts that a database sets end the session of a process that is too busy to lift them at once.
				if (left === 0 || !isConnectionFault(error)) {
					throw error;
				}
			}
		}
	};
	return db;
};

/**
 * A connection pool. Nothing is opened before the first query. Every session is prepared, see `setUpSession`.
 * @param options.listenUrl an address whose sessions last, for `LISTEN`: those of `connection` may then be shared by a
 * pooler, so nothing is kept in them between transactions. Null: `connection` itself.
 */
export const createDb = (
	connection: DbConnection,
	{poolSize = 10, timeouts = TIMEOUTS, listenUrl = null}: Partial<PoolOptions> = {},
): Db => {
	const settings = (of: DbConnection) => ({
		...(typeof of === 'string' ? {connectionString: driverUrl(of)} : of),
		application_name: 'oplink',
		connectionTimeoutMillis: timeouts.connectMs,
		keepAlive: true,
		keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
	});
	const own: Own = {listenWith: listenUrl === null ? null : settings(listenUrl), connections: createConnections()};
	const db = withOwnConnections(
		knex({
			client: 'pg',
			// knex would query it for every pool, and nothing here uses it.
			version: '14.0',
			connection: settings(connection),
			pool: {
				min: 0,
				max: poolSize,
				propagateCreateError: true,
			},
			acquireConnectionTimeout: timeouts.acquireMs,
			// Any error is thrown to the statement's caller, which logs it with its request.
			log: {warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {}},
		}),
		own,
	);
	// Transactions have a client of their own with the same configuration.
	Object.assign(db.client.config, own);
	return db;
};

const ownOf = (db: Db): Own => db.client.config;

export const connectionsOf = (db: Db): Connections => ownOf(db).connections;

/** Whether a pooler may lend the sessions of this pool to others between transactions. */
export const sharesSessions = (db: Db): boolean => ownOf(db).listenWith !== null;

/** A new connection whose session lasts, for `LISTEN`; not connected yet. */
export const createListeningClient = (db: Db): pg.Client =>
	// knex hides the password from copies, so the object itself is passed on.
	connectionsOf(db).create(ownOf(db).listenWith ?? (db.client.connectionSettings as pg.ClientConfig));

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export const inTransaction = <T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> =>
	db.transaction((trx) => work(trx));

/** The name of the constraint or unique index that a statement violated, as in the migrations; otherwise null. */
export const violatedConstraint = (error: unknown): string | null => {
	const {code, constraint} = (error ?? {}) as {code?: unknown; constraint?: unknown};
	const isViolation = typeof code === 'string' && code.startsWith('23');
	return isViolation && typeof constraint === 'string' ? constraint : null;
};

/**
 * The fault in `faults` for the constraint that `error` violated, else `error` itself. The constraint decides, so the
 * check is not written twice.
 */
export const translateViolation = (error: unknown, faults: Record<string, () => Error>): unknown => {
	const constraint = violatedConstraint(error);
	return (constraint !== null && faults[constraint]?.()) || error;
};

/** Whether a statement failed because of its values, so that a retry would fail too: SQLSTATE classes 22 and 23. */
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
// Class 08 is 'connection exception', 57P0x 'the server is going down or coming up', 53 'insufficient resources' such
// as a full disk, 57014 a statement canceled by an operator, 58030 'input/output error', 25006 a read-only database,
// such as a standby after a failover (PostgreSQL, appendix A).
const UNAVAILABLE_STATES = /^(?:08|53|57P0|57014|58030|25006)/;
const CONNECTION_MESSAGES =
	/connection terminated|timeout expired|timeout exceeded when trying to connect|acquiring a connection|client has encountered a connection error/i;

/** Whether the database was unreachable, lost, full or read-only: the caller gets 503 and may retry. */
export const isConnectionFault = (error: unknown): boolean => {
	if (!(error instanceof Error)) {
		return false;
	}

	const {code} = error as {code?: unknown};
	if (typeof code === 'string' && (UNAVAILABLE_STATES.test(code) || CONNECTION_CODES.has(code))) {
		return !isForeignCall(error);
	}

	return CONNECTION_MESSAGES.test(error.message) || error.name === 'KnexTimeoutError';
};

/**
 * Whether the database is read-only now, such as a standby. The check is a write without effect: every such condition
 * rejects it, and the rejected session is not used again.
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

/** Escapes `%` and `_` in a search pattern (contract/links 6). */
export const likeLiteral = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** The only row of a statement that always returns one. */
export const onlyRow = <T>(rows: T[]): T => {
	const [row] = rows;
	if (row === undefined) {
		throw new Error('a statement returned no row where one was expected');
	}

	return row;
};
