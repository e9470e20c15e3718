import knex, {type Knex} from 'knex';
import type pg from 'pg';
import {driverUrl} from '../config/database-url.ts';
import {isConnectionFault} from '../connection-fault.ts';
import {Connections} from './connections.ts';

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

/** How long a connection is silent before the system probes the server: ten times, once a second. */
const KEEP_ALIVE_MS = 10_000;

/** Maximum attempts to open a session; a session may end before it is prepared. */
const MAX_ATTEMPTS = 5;

const openConnection = async (connections: Connections): Promise<pg.Client> => {
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await connections.open();
		} catch (error) {
			// The timeouts that a database sets end the session of a process that is too busy to lift them at once.
			if (attempt === MAX_ATTEMPTS || !isConnectionFault(error)) {
				throw error;
			}
		}
	}
};

/** knex's pool, with connections of our own (its option `connectionPool`). */
class ConnectionPool extends knex.KnexPool<pg.Client> {
	readonly connections: Connections;
	readonly size: number;

	constructor(connections: Connections, {size, acquireMs}: {size: number; acquireMs: number}) {
		super({
			min: 0,
			max: size,
			acquireTimeoutMillis: acquireMs,
			propagateCreateError: true,
			create: () => openConnection(connections),
			validate: (client) => connections.isUsable(client),
			destroy: (client) => client.end(),
		});
		this.connections = connections;
		this.size = size;
	}
}

/**
 * A connection pool. Nothing is opened before the first query. Every session is prepared, see `setUpSession`.
 * @param options.listenUrl an address whose sessions last, for `LISTEN`: those of `connection` may then be shared by a
 * pooler, so nothing is kept in them between transactions. Null: `connection` itself.
 */
export const createDb = (
	connection: DbConnection,
	{poolSize = 10, timeouts = TIMEOUTS, listenUrl = null}: Partial<PoolOptions> = {},
): Db => {
	const settings = (of: DbConnection): pg.ClientConfig => ({
		...(typeof of === 'string' ? {connectionString: driverUrl(of)} : of),
		application_name: 'oplink',
		connectionTimeoutMillis: timeouts.connectMs,
		keepAlive: true,
		keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
	});
	const connections = new Connections(settings(connection), listenUrl === null ? null : settings(listenUrl));
	return knex({
		client: 'pg',
		connectionPool: new ConnectionPool(connections, {size: poolSize, acquireMs: timeouts.acquireMs}),
		// Any error is thrown to the statement's caller, which logs it with its request.
		log: {warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {}},
	});
};

/** The pool of a database, or of the database of a transaction. */
export const poolOf = (db: Db): ConnectionPool => db.client.config.connectionPool;

export const connectionsOf = (db: Db): Connections => poolOf(db).connections;

/** Whether a pooler may lend the sessions of this pool to others between transactions. */
export const sharesSessions = (db: Db): boolean => connectionsOf(db).isShared;

/** Closes the pool when its connections are free; knex leaves that to the owner of a pool. */
export const closeDb = async (db: Db): Promise<void> => {
	await poolOf(db).destroy();
	await db.destroy();
};

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

/** Whether a statement failed because of its values (SQLSTATE classes 22 and 23), and would fail again. */
export const isRefusedValue = (error: unknown): boolean => {
	const {code} = (error ?? {}) as {code?: unknown};
	return typeof code === 'string' && /^2[23]/.test(code);
};

/** Escapes `%` and `_` in a search pattern (contract/links 6). */
export const likeLiteral = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** The only row of a statement that always returns one. */
export const onlyRow = <T>(rows: T[]): T => {
	const [row] = rows;
	if (row === undefined) {
		throw new Error('a statement returned no row');
	}

	return row;
};
