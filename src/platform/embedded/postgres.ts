import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {isConnectionFault} from '../connection-fault.ts';
import {required} from '../errors.ts';
import {prepareBinaries} from './binaries.ts';
import {type ClusterGuard, DATABASE, openClusterGuard} from './cluster-guard.ts';
import {EmbeddedPostgresError, errorCode} from './embedded-errors.ts';
import {CLUSTER_USER, initCluster, readPassword} from './init-cluster.ts';
import {type Cluster, clusterEntry, clusterIdentity, findCluster, makeDataDir, newClusterIdentity} from './location.ts';
import type {Postmaster} from './lock-file.ts';
import {ensurePostmaster, stopPostmaster} from './postmaster.ts';
import type {TetheredProcess} from './tether.ts';

export type EmbeddedPostgres = {
	/** For `pg` and `createDb`: `host` is the folder of a unix socket. */
	connection: {host: string; port: number; user: string; password: string; database: string};
	/** The same as a URL for `pg`, `psql` and `new URL`. It contains the password, so it is never logged. */
	connectionString: string;
	/** The cluster's path: in DATA_DIR, or the target of the link there. */
	directory: string;
	/** Process id of PostgreSQL, which changes when it is restarted. */
	pid(): number;
	/** Leaves the cluster; its last user stops PostgreSQL. Call it last, and once. */
	stop(): Promise<void>;
};

type Options = {
	dataDir: string;
	log: Logger;
	/**
	 * True for the server, of which there is only one at a time. False joins a running cluster or starts it temporarily.
	 */
	exclusive?: boolean;
	/** PostgreSQL settings that override the cluster's, if this call starts it. */
	settings?: Record<string, string>;
	/** Ends a start that creates the cluster: it leaves nothing and rejects. */
	interruption?: AbortSignal | undefined;
};

type Session = {postmaster: Postmaster; tethered: TetheredProcess | null; guard: ClusterGuard};

const JOIN_TIMEOUT_MS = 30_000;
const RETRY_MS = 20;
const RECOVERY_PAUSE_MS = 1000;

const SYSTEM_FAULTS = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR']);

const findOrInitCluster = async ({dataDir, log, interruption}: Options) => {
	await makeDataDir(dataDir);
	const runner = await clusterIdentity(clusterEntry(dataDir)).catch(newClusterIdentity);
	const binaries = await prepareBinaries(runner, dataDir);
	let cluster = await findCluster(dataDir, binaries.major);
	if (cluster === null) {
		log.info({dataDir}, 'creating the embedded PostgreSQL');
		await initCluster(binaries, dataDir, interruption);
		cluster = await findCluster(dataDir, binaries.major);
	}

	const obstacle = () =>
		new EmbeddedPostgresError(`${clusterEntry(dataDir)} is in the way of the database: remove it.`);
	return {binaries, cluster: required(cluster, obstacle)};
};

/** Joins the cluster. If its last user stops PostgreSQL before the connection is made, it retries once. */
const join = async (
	ensure: () => ReturnType<typeof ensurePostmaster>,
	options: {dataDir: string; password: string; exclusive: boolean},
) => {
	const began = performance.now();
	for (;;) {
		const {postmaster, tethered} = await ensure();
		try {
			return {postmaster, tethered, guard: await openClusterGuard(postmaster, options)};
		} catch (error) {
			if (!isConnectionFault(error) || performance.now() - began > JOIN_TIMEOUT_MS) {
				throw error;
			}
		}

		await delay(RETRY_MS);
	}
};

const leave = async ({postmaster, tethered, guard}: Session, cluster: Cluster, log: Logger): Promise<void> => {
	const isLast = await guard.isLast().catch(() => true);
	if (isLast) {
		await stopPostmaster(postmaster, cluster, log);
		log.info('embedded PostgreSQL stopped');
	} else {
		tethered?.release();
		log.info('embedded PostgreSQL keeps running for another process');
	}

	await guard.close();
};

/**
 * Starts the default database, a real PostgreSQL whose cluster is in `dataDir`, or joins it if it is running. It
 * listens on a unix socket only and requires the password stored in DATA_DIR. A PostgreSQL that dies while in use is
 * restarted. When this process dies, PostgreSQL shuts down by itself; if it does not, the next start adopts it. Throws
 * a DataDirInUseError if `exclusive` and another server runs on `dataDir`, and an EmbeddedPostgresError if no database
 * can run here.
 */
export const startEmbeddedPostgres = async (options: Options): Promise<EmbeddedPostgres> => {
	const {log, exclusive = true, settings = {}} = options;
	const dataDir = path.resolve(options.dataDir);
	const began = performance.now();
	const {binaries, cluster} = await findOrInitCluster({...options, dataDir}).catch((error: Error) => {
		throw SYSTEM_FAULTS.has(errorCode(error) ?? '')
			? new EmbeddedPostgresError(`DATA_DIR ${dataDir} cannot hold the database: ${error.message}`)
			: error;
	});
	const password = await readPassword(dataDir);
	const enter = () => join(() => ensurePostmaster(binaries, cluster, {settings, log}), {dataDir, password, exclusive});

	let session = await enter();
	let isStopping = false;
	let recovery = Promise.resolve();
	const recover = async (): Promise<void> => {
		log.error('the embedded PostgreSQL stopped unexpectedly: restarting it');
		while (!isStopping) {
			try {
				session = await enter();
				watch();
				log.info({postgres: session.postmaster.pid}, 'the embedded PostgreSQL is back');
				return;
			} catch (error) {
				log.error({err: error}, 'the embedded PostgreSQL could not be restarted');
				await delay(RECOVERY_PAUSE_MS);
			}
		}
	};
	const watch = async (): Promise<void> => {
		await session.guard.ended;
		if (!isStopping) {
			recovery = recover();
		}
	};
	watch();

	const {pid, port, socketDir} = session.postmaster;
	const took = Math.round(performance.now() - began);
	log.info(
		{pid, directory: cluster.directory, ms: took},
		`embedded PostgreSQL ${session.tethered ? 'started' : 'joined'}`,
	);
	const query = new URLSearchParams({host: socketDir, port: String(port), user: CLUSTER_USER, password});
	return {
		connection: {host: socketDir, port, user: CLUSTER_USER, password, database: DATABASE},
		connectionString: `postgresql:///${DATABASE}?${query}`,
		directory: cluster.directory,
		pid: () => session.postmaster.pid,
		stop: async () => {
			isStopping = true;
			await recovery;
			await leave(session, cluster, log);
		},
	};
};
