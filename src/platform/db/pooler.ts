import {randomUUID} from 'node:crypto';
import {READ_ONLY} from './connections.ts';
import {type DatabaseFault, explainDatabaseError} from './database-faults.ts';
import {connectionsOf, type Db, sharesSessions} from './db.ts';
import {sharedSettings} from './session.ts';
import {execute, run, sql} from './sql.ts';

type Connection = {
	/** The process id that the server reported when the connection was opened. */
	processID: number;
	query<Row>(text: string): Promise<{rows: Row[]}>;
};

const ROUNDS = 3;

/** How long a notification may take. */
const DELIVERY_MS = 5000;

const backendOf = async (connection: Connection): Promise<number | undefined> =>
	(await connection.query<{pid: number}>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;

/** Whether a pooler serves two connections by one backend, or one connection by two. */
const sharesBackends = async (first: Connection, second: Connection): Promise<boolean> => {
	for (let round = 0; round < ROUNDS; round += 1) {
		const before = await backendOf(first);
		// A transaction keeps its backend from the other connection.
		await second.query('BEGIN');
		const other = await backendOf(second);
		const after = before === other ? undefined : await backendOf(first);
		await second.query('COMMIT');
		if (before !== after) {
			return true;
		}
	}

	return false;
};

/** The lifetime of a session: a pooler may reassign it after each transaction, or after each statement. */
type SessionLifetime = 'connection' | 'transaction' | 'statement';

/**
 * The lifetime of sessions. PostgreSQL reports the process id of the backend, a pooler makes one up, so without a
 * pooler one query tells.
 */
const sessionLifetime = async (db: Db): Promise<SessionLifetime> => {
	const held: Connection[] = [];
	const take = async (): Promise<Connection> => {
		const connection = (await db.client.acquireConnection()) as Connection;
		held.push(connection);
		return connection;
	};
	try {
		const first = await take();
		if ((await backendOf(first)) === first.processID) {
			return 'connection';
		}

		// Without a second one, the first connection keeps the only backend of the pooler.
		const second = await take().catch(() => null);
		return second !== null && (await sharesBackends(first, second)) ? 'transaction' : 'connection';
	} catch (error) {
		// A pooler that shares sessions even between statements, without transactions.
		if (/pooling mode/.test((error as Error).message)) {
			return 'statement';
		}

		throw error;
	} finally {
		await Promise.all(held.map((connection) => db.client.releaseConnection(connection)));
	}
};

/** Whether the sessions that a pooler shares have the settings that the code relies on. */
const checkSharedSettings = async (db: Db): Promise<DatabaseFault | null> => {
	const found = await run<{name: string; setting: string; user: string}>(
		db,
		sql`SELECT lower(name) AS name, setting, session_user AS user FROM pg_settings`,
	);
	const corrections = found.flatMap(({name, setting, user}) => {
		const value = sharedSettings.get(name);
		return value === undefined || value === setting ? [] : [`ALTER ROLE "${user}" SET ${name} = '${value}';`];
	});
	return corrections.length === 0
		? null
		: {
				fault: 'the sessions that the pooler shares lack settings that Oplink relies on',
				remedy: `As their user run: ${corrections.join(' ')} and let the pooler connect anew (PgBouncer: RECONNECT)`,
			};
};

/** Whether notifications sent through the pool arrive at the address for listening. */
const checkListening = async (db: Db): Promise<DatabaseFault | null> => {
	const connections = connectionsOf(db);
	const client = connections.createListener();
	client.on('error', () => {});
	const token = randomUUID();
	try {
		await connections.connect(client);
		const received = new Promise<boolean>((resolve) => {
			setTimeout(() => resolve(false), DELIVERY_MS).unref();
			client.on('notification', ({payload}) => payload === token && resolve(true));
		});
		await client.query('LISTEN oplink_check');
		await execute(db, sql`SELECT pg_notify('oplink_check', ${token})`);
		return (await received)
			? null
			: {
					variable: 'DATABASE_LISTEN_URL',
					fault: 'notifications sent through DATABASE_URL do not arrive there',
					remedy: 'Name the same database on the same server, without a pooler in transaction mode',
				};
	} catch (error) {
		if ((error as {code?: unknown}).code === READ_ONLY) {
			// Nothing is announced on a standby; another check reports it.
			return null;
		}

		const known = explainDatabaseError(error);
		return {
			variable: 'DATABASE_LISTEN_URL',
			fault: known?.fault ?? `it cannot be used (${(error as Error).message})`,
			remedy: (known?.remedy ?? 'Correct it').replaceAll('DATABASE_URL', 'DATABASE_LISTEN_URL'),
		};
	} finally {
		await client.end().catch(() => {});
	}
};

/** The fault of a pooler; null if sessions last as the code requires. */
export const checkPooler = async (db: Db): Promise<DatabaseFault | null> => {
	const life = await sessionLifetime(db);
	if (life === 'statement') {
		return {
			fault: 'a pooler in front of PostgreSQL allows no transactions (PgBouncer: pool_mode = statement)',
			remedy: 'Set pool_mode = transaction or session for this database, or point DATABASE_URL to PostgreSQL itself',
		};
	}

	if (sharesSessions(db)) {
		return (await checkSharedSettings(db)) ?? (await checkListening(db));
	}

	return life === 'connection'
		? null
		: {
				fault:
					'a pooler in front of PostgreSQL shares sessions between transactions (PgBouncer: pool_mode = transaction)',
				remedy:
					'Set DATABASE_LISTEN_URL to PostgreSQL itself for the one connection that listens, or set pool_mode = session for this database',
			};
};
