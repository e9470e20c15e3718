import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {chown, lstat, mkdir, open, rmdir} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import type {Binaries} from './binaries.ts';
import {EmbeddedPostgresError, orWhereExists, useExternal} from './embedded-errors.ts';
import type {Cluster} from './location.ts';
import {disownLockFile, isPostmasterOf, type Postmaster, readPostmaster} from './lock-file.ts';
import {spawnTethered, type TetheredProcess} from './tether.ts';

const PORT = 5432;
const SOCKET_NAME = `.s.PGSQL.${PORT}`;
/** Longest socket path on macOS; Linux allows 107 bytes. */
const MAX_SOCKET_PATH = 103;
const POLL_MS = 5;
const LOCK_RETRY_MS = 5000;
const START_TIMEOUT_MS = 300_000;
const MAX_LOG_BYTES = 1_000_000;

/**
 * The socket's folder: the cluster, which only its owner may enter. If that path is too long for a socket, a short one
 * with the same modes, whose name is derived from the cluster, because clients must find it after a restart.
 */
const prepareSocketDir = async ({directory, identity}: Cluster): Promise<string> => {
	if (Buffer.byteLength(path.join(directory, SOCKET_NAME)) <= MAX_SOCKET_PATH) {
		return directory;
	}

	const name = createHash('sha256').update(directory).digest('hex').slice(0, 16);
	const folder = `/tmp/oplink-${name}`;
	if ((await orWhereExists(mkdir(folder, {mode: 0o700}))) && identity.uid !== undefined) {
		await chown(folder, identity.uid, identity.gid);
	}

	const {uid = process.getuid?.()} = identity;
	const found = await lstat(folder);
	if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o777) !== 0o700) {
		throw new EmbeddedPostgresError(`${folder} exists and is not a private folder of Oplink: remove it.`);
	}

	return folder;
};

const openLog = (directory: string) =>
	open(
		path.join(directory, 'postgres.log'),
		constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW,
		0o600,
	);

type Launch = {
	tethered: TetheredProcess;
	/** Its log since its start. */
	messages(): Promise<string>;
};

const launch = async (binaries: Binaries, cluster: Cluster, settings: Record<string, string>): Promise<Launch> => {
	const {directory, identity} = cluster;
	const socketDir = await prepareSocketDir(cluster);
	await disownLockFile(path.join(directory, 'postmaster.pid'), directory);
	await disownLockFile(path.join(socketDir, `${SOCKET_NAME}.lock`), directory);
	const log = await openLog(directory);
	try {
		if ((await log.stat()).size > MAX_LOG_BYTES) {
			await log.truncate();
		}

		// Both root and its owner must be able to open it.
		if (identity.uid !== undefined) {
			await log.chown(identity.uid, identity.gid);
		}

		const {size} = await log.stat();
		const all = {
			port: String(PORT),
			listen_addresses: '',
			unix_socket_directories: socketDir,
			unix_socket_permissions: '0700',
			...settings,
		};
		const tethered = spawnTethered(
			[
				binaries.postgres,
				'-D',
				directory,
				...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
			],
			{signal: 'INT', output: log.fd, identity},
		);
		const messages = async () => {
			const written = await openLog(directory);
			const text = await written.readFile('utf8');
			await written.close();
			return Buffer.from(text).subarray(size).toString().trim();
		};

		return {tethered, messages};
	} finally {
		await log.close();
	}
};

const hasExited = ({child}: TetheredProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/**
 * Returns the cluster's PostgreSQL: a running one, or a new one, with recovery if the last one was killed. Waits while
 * one is starting or stopping.
 * @returns it, and the tether if this call started it.
 */
export const ensurePostmaster = async (
	binaries: Binaries,
	cluster: Cluster,
	{settings, log}: {settings: Record<string, string>; log: Logger},
): Promise<{postmaster: Postmaster; tethered: TetheredProcess | null}> => {
	const began = performance.now();
	let launched: Launch | null = null;
	let nextNotice = 10_000;
	for (;;) {
		const postmaster = await readPostmaster(cluster.directory);
		const waited = performance.now() - began;
		if (postmaster?.isReady) {
			const isOurs = launched !== null && launched.tethered.child.pid === postmaster.pid;
			return {postmaster, tethered: isOurs && launched ? launched.tethered : null};
		}

		if (launched && hasExited(launched.tethered) && postmaster === null) {
			const messages = await launched.messages();
			// A killed PostgreSQL keeps its pid until it is reaped, and its memory until its last child ends. After an
			// orderly exit, another user stopped it.
			const isPassing = /lock file|shared memory block/.test(messages) || launched.tethered.child.exitCode === 0;
			if (!isPassing || waited > LOCK_RETRY_MS) {
				throw new EmbeddedPostgresError(`The database in ${cluster.directory} did not start:\n${messages}`);
			}

			launched = null;
			await delay(POLL_MS * 10);
		} else if (launched === null && postmaster === null) {
			launched = await launch(binaries, cluster, settings);
		}

		if (waited > START_TIMEOUT_MS) {
			throw new EmbeddedPostgresError(
				`The database in ${cluster.directory} was not ready within 5 minutes. ${useExternal}`,
			);
		}

		if (waited > nextNotice) {
			nextNotice += 10_000;
			log.warn({directory: cluster.directory}, 'waiting for the embedded PostgreSQL to recover or to stop');
		}

		await delay(POLL_MS);
	}
};

// Fast shutdown, then immediate shutdown, which needs recovery, then SIGKILL for a hanging process.
const ESCALATION = [
	['SIGINT', 10_000],
	['SIGQUIT', 6000],
	['SIGKILL', 2000],
] as const;

/** Stops it and waits for its end. Open connections are closed, transactions rolled back. */
export const stopPostmaster = async (
	{pid, socketDir}: Postmaster,
	{directory}: Cluster,
	log: Logger,
): Promise<void> => {
	for (const [signal, patience] of ESCALATION) {
		if (!(await isPostmasterOf(pid, directory))) {
			break;
		}

		if (signal !== 'SIGINT') {
			log.warn({postgres: pid, signal}, 'the embedded PostgreSQL does not stop');
		}

		process.kill(pid, signal);
		const began = performance.now();
		while (performance.now() - began < patience && (await isPostmasterOf(pid, directory))) {
			await delay(POLL_MS);
		}
	}

	if (socketDir !== directory) {
		await rmdir(socketDir).catch(() => {});
	}
};
