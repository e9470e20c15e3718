import knex, {type Knex} from 'knex';

/** A pool or a transaction: a store is built over either, so the same statements run inside and outside of one. */
export type Db = Knex;

/** Where PostgreSQL is: a connection URL, or the parts of one (a socket folder as `host`). */
export type DbConnection = string | {host: string; port: number; user: string; database: string};

/** How long a connection may take to come up, and a statement to get one of the pool's: then the caller gets 503. */
const TIMEOUTS = {connectMs: 2000, acquireMs: 5000};

/**
 * A pool of connections. Nothing is opened before the first query.
 * Every session runs in UTC, so that no calendar arithmetic depends on the machine's timezone.
 */
export const createDb = (connection: DbConnection, {poolSize = 10, timeouts = TIMEOUTS} = {}): Db =>
	knex({
		client: 'pg',
		connection: {
			...(typeof connection === 'string' ? {connectionString: connection} : connection),
			options: '-c timezone=UTC',
			application_name: 'oplink',
			connectionTimeoutMillis: timeouts.connectMs,
			keepAlive: true,
		},
		pool: {min: 0, max: poolSize, propagateCreateError: true},
		acquireConnectionTimeout: timeouts.acquireMs,
		// Whatever goes wrong is thrown to the statement's caller, which logs it with its request.
		log: {warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {}},
	});

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
	'ENOTFOUND',
	'EAI_AGAIN',
]);
// Class 08 is 'connection exception', 57P0x 'the server is going down or coming up', 53 'insufficient resources' such as a
// full disk, 58030 'input/output error' (PostgreSQL, appendix A).
const UNAVAILABLE_STATES = /^(?:08|53|57P0|58030)/;
const CONNECTION_MESSAGES =
	/connection terminated|timeout expired|timeout exceeded when trying to connect|acquiring a connection|client has encountered a connection error/i;

/** Whether the database could not be reached, went away, or has no room: the caller gets 503 and may come back. */
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

/** What a search pattern needs so that `%` and `_` are literal (decisions 4). */
export const likeLiteral = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** The single row of a statement that always gives one. */
export const onlyRow = <T>(rows: T[]): T => {
	const [row] = rows;
	if (row === undefined) {
		throw new Error('a statement gave no row where it always gives one');
	}

	return row;
};
