import {setTimeout as delay} from 'node:timers/promises';
import {Client} from 'pg';
import {DataDirInUseError, errorCode, isAlive} from './embedded-errors.ts';
import {CLUSTER_USER, wrongPassword} from './init-cluster.ts';
import type {Postmaster} from './lock-file.ts';

/**
 * A connection that represents this process in the cluster. Its advisory locks show the users of the cluster and
 * the server that owns it. The kernel closes it with the process, so no lock outlives its holder.
 */
export type ClusterGuard = {
	/** Settles when the connection ends for any reason. */
	ended: Promise<void>;
	/**
	 * Releases this process's use.
	 * @returns whether it was the last user; then no process can begin to use the cluster until `close`.
	 */
	isLast(): Promise<boolean>;
	close(): Promise<void>;
};

export const DATABASE = 'oplink';

// 'oplk' in ASCII, and the numbers of our locks.
const SPACE = 0x6f_70_6c_6b;
const [USE, SERVE, CREATE] = [1, 2, 3];
const HOLDER_GONE_MS = 5000;
const WRONG_PASSWORD = '28P01';
const SERVER_NAME = /^oplink server (\d+)$/;

const holderOf = async (client: Client): Promise<number | null> => {
	const {rows} = await client.query<{application_name: string}>(
		`select application_name from pg_locks join pg_stat_activity using (pid)
		where locktype = 'advisory' and classid = $1 and objid = $2 and granted`,
		[SPACE, SERVE],
	);
	const pid = SERVER_NAME.exec(rows[0]?.application_name ?? '')?.[1];
	return pid === undefined ? null : Number(pid);
};

const claimServing = async (client: Client, dataDir: string): Promise<void> => {
	const began = performance.now();
	for (;;) {
		const {rows} = await client.query<{taken: boolean}>('select pg_try_advisory_lock($1, $2) taken', [SPACE, SERVE]);
		if (rows[0]?.taken) {
			return;
		}

		// PostgreSQL takes a moment to notice that the last server was killed.
		const holder = await holderOf(client);
		const isPassing = holder === null || !isAlive(holder);
		if (!isPassing || performance.now() - began > HOLDER_GONE_MS) {
			throw new DataDirInUseError(dataDir, holder);
		}

		await delay(10);
	}
};

const ensureDatabase = async (client: Client): Promise<void> => {
	const exists = async () =>
		(await client.query('select from pg_database where datname = $1', [DATABASE])).rowCount === 1;
	if (await exists()) {
		return;
	}

	await client.query('select pg_advisory_lock($1, $2)', [SPACE, CREATE]);
	if (!(await exists())) {
		await client.query(`create database ${DATABASE}`);
	}

	await client.query('select pg_advisory_unlock($1, $2)', [SPACE, CREATE]);
};

/**
 * Joins the users of a running cluster, as its only server if `exclusive`, and creates the database if necessary.
 * Throws a DataDirInUseError if another server owns it, an EmbeddedPostgresError if the password is wrong.
 */
export const openClusterGuard = async (
	{port, socketDir}: Postmaster,
	{dataDir, password, exclusive}: {dataDir: string; password: string; exclusive: boolean},
): Promise<ClusterGuard> => {
	const client = new Client({
		host: socketDir,
		port,
		user: CLUSTER_USER,
		password,
		database: 'postgres',
		application_name: `oplink ${exclusive ? 'server' : 'user'} ${process.pid}`,
		connectionTimeoutMillis: 5000,
	});
	client.on('error', () => {});
	const ended = new Promise<void>((resolve) => client.once('end', resolve));
	const close = async () => {
		await client.end().catch(() => {});
	};

	try {
		await client.connect();
		await client.query('select pg_advisory_lock_shared($1, $2)', [SPACE, USE]);
		if (exclusive) {
			await claimServing(client, dataDir);
		}

		await ensureDatabase(client);
	} catch (error) {
		await close();
		throw errorCode(error) === WRONG_PASSWORD ? wrongPassword(dataDir) : error;
	}

	const isLast = async () => {
		await client.query('select pg_advisory_unlock_shared($1, $2)', [SPACE, USE]);
		const {rows} = await client.query<{taken: boolean}>('select pg_try_advisory_lock($1, $2) taken', [SPACE, USE]);
		return rows[0]?.taken === true;
	};

	return {ended, isLast, close};
};
