import {execFile} from 'node:child_process';
import {chmod, lstat, mkdir, readdir, readFile, realpath, stat} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {EmbeddedPostgresError, errorCode, useExternal} from './embedded-errors.ts';

/** The user of a process: ids to change to, or none to stay the current user. */
export type Identity = {uid: number; gid: number} | Record<string, never>;

/** The environment of our processes: no secrets, and no variables that could affect the database. */
export const plainEnvironment = {PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC'};

/** Users dedicated to a database, best first. An administrator adds the first (docs/operating/production.md). */
const USERS = ['oplink', 'postgres'];

/** 'nobody' and its group exist on every system, so the host needs no change. */
const NOBODY: Identity = {uid: 65_534, gid: 65_534};

/** Root's folder for files that PostgreSQL's user could not reach elsewhere, such as below /root; only root writes here. */
const SHARED_BASE = '/var/lib/oplink';

export const isRoot = (): boolean => process.getuid?.() === 0;

/** The owner of a new cluster under root. @param passwd the text of /etc/passwd. */
export const chooseUser = (passwd: string): Identity => {
	const users = passwd.split('\n').map((line) => line.split(':'));
	for (const wanted of USERS) {
		const [, , uid, gid] = users.find(([name]) => name === wanted) ?? [];
		if (Number(uid) > 0) {
			return {uid: Number(uid), gid: Number(gid)};
		}
	}

	return NOBODY;
};

/** The owner of a new cluster: PostgreSQL refuses to run as root. */
export const newClusterIdentity = async (): Promise<Identity> =>
	isRoot() ? chooseUser(await readFile('/etc/passwd', 'utf8').catch(() => '')) : {};

/** The user for an existing cluster: root can act as any owner, others only as themselves. */
export const clusterIdentity = async (directory: string): Promise<Identity> => {
	const {uid, gid} = await stat(directory);
	return isRoot() ? {uid, gid} : {};
};

/** Whether `identity` can enter the directory, which depends on the modes of all its parents. */
export const canEnter = (identity: Identity, directory: string): Promise<boolean> =>
	promisify(execFile)('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {
		...identity,
		cwd: '/',
		env: plainEnvironment,
	}).then(
		() => true,
		() => false,
	);

/** The shared folder, which is made if it is missing. */
export const makeSharedBase = async (): Promise<string> => {
	try {
		if ((await mkdir(SHARED_BASE, {recursive: true})) !== undefined) {
			await chmod(SHARED_BASE, 0o755);
		}
	} catch (error) {
		throw new EmbeddedPostgresError(
			`PostgreSQL does not run as root, and ${SHARED_BASE}, where another user could reach it, could not be made ` +
				`(${errorCode(error)}). Run as an ordinary user, or with a DATA_DIR that others may enter. ${useExternal}`,
		);
	}

	return SHARED_BASE;
};

/** An existing cluster: its real path and its user. */
export type Cluster = {directory: string; identity: Identity};

/** The cluster in DATA_DIR, or the link to it. */
export const clusterEntry = (dataDir: string): string => path.join(dataDir, 'postgres');

/**
 * Creates DATA_DIR if it is missing. Under root others may traverse it but not list it, because the cluster in it belongs
 * to another user.
 */
export const makeDataDir = async (dataDir: string): Promise<void> => {
	await mkdir(dataDir, {recursive: true, mode: isRoot() ? 0o711 : 0o700});
};

/** The text of a cluster's PG_VERSION; null for a folder that is empty. */
const readVersion = async (directory: string): Promise<string | null> => {
	try {
		return (await readFile(path.join(directory, 'PG_VERSION'), 'utf8')).trim();
	} catch (error) {
		if (errorCode(error) !== 'ENOENT') {
			throw error;
		}
	}

	if ((await readdir(directory)).length > 0) {
		throw new EmbeddedPostgresError(`${directory} contains something other than a PostgreSQL database. Move it away.`);
	}

	return null;
};

/**
 * The cluster of a DATA_DIR, or null before the first start. An unusable cluster is an error and never ignored, because
 * an empty database in its place would look like data loss.
 * @param major version of the binaries that will run it.
 */
export const findCluster = async (dataDir: string, major: string): Promise<Cluster | null> => {
	const entry = clusterEntry(dataDir);
	if ((await lstat(entry).catch(() => null)) === null) {
		return null;
	}

	const directory = await realpath(entry).catch(() => {
		throw new EmbeddedPostgresError(
			`${entry} links to a missing database. Restore it, or remove the link to start with an empty one.`,
		);
	});
	const identity = await clusterIdentity(directory);
	if (isRoot() && !(await canEnter(identity, directory))) {
		throw new EmbeddedPostgresError(
			`The user with id ${identity.uid} owns the database in ${directory}, but cannot enter that folder. ` +
				`Let others pass through the folders above it (chmod o+x). ${useExternal}`,
		);
	}

	const version = await readVersion(directory);
	if (version !== null && version !== major) {
		throw new EmbeddedPostgresError(
			`The database in ${directory} was created by PostgreSQL ${version}; this version of Oplink includes ` +
				`PostgreSQL ${major}, which cannot read it. Go back to the earlier version of Oplink, or dump the database ` +
				`with PostgreSQL ${version} and restore it into an empty DATA_DIR.`,
		);
	}

	return version === null ? null : {directory, identity};
};
