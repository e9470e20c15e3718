import {lstat, mkdir, readdir, readFile, realpath, rm, stat} from 'node:fs/promises';
import path from 'node:path';
import {EmbeddedPostgresError, elsewhere, errorCode} from './embedded-errors.ts';
import {canEnter, clusterIdentity, type Identity, isRoot, newClusterIdentity} from './identity.ts';
import {makeSharedBase, sharedBase} from './shared-base.ts';

/** An existing cluster: its real path and its user. */
export type Cluster = {directory: string; identity: Identity};

/** Name of the cluster in DATA_DIR, or of the link to it. */
export const CLUSTER_NAME = 'postgres';

/**
 * Creates DATA_DIR if it is missing. Under root others may traverse it but not list it, so that the cluster in it can
 * belong to another user.
 */
export const makeDataDir = async (dataDir: string): Promise<void> => {
	await mkdir(dataDir, {recursive: true, mode: isRoot() ? 0o711 : 0o700});
};

/**
 * The cluster of a DATA_DIR, or null before the first start. An unusable cluster is an error and never ignored, because
 * an empty database in its place would look like data loss.
 * @param major version of the binaries that will run it.
 */
export const findCluster = async (dataDir: string, major: string): Promise<Cluster | null> => {
	const entry = path.join(dataDir, CLUSTER_NAME);
	const isThere = await lstat(entry).catch(() => null);
	if (isThere === null) {
		return null;
	}

	let directory: string;
	try {
		directory = await realpath(entry);
	} catch {
		throw new EmbeddedPostgresError(
			`${entry} links to a missing database. Restore it, or remove the link to start with an empty one.`,
		);
	}

	const version = await readFile(path.join(directory, 'PG_VERSION'), 'utf8').catch((error) => {
		if (errorCode(error) === 'ENOENT') {
			return null;
		}

		throw new EmbeddedPostgresError(`The database in ${directory} cannot be read by this user (${errorCode(error)}).`);
	});
	if (version === null) {
		const isEmpty = (await readdir(directory)).length === 0;
		if (isEmpty) {
			return null;
		}

		throw new EmbeddedPostgresError(`${directory} contains something other than a PostgreSQL database. Move it away.`);
	}

	if (version.trim() !== major) {
		throw new EmbeddedPostgresError(
			`The database in ${directory} was created by PostgreSQL ${version.trim()}; this version of Oplink includes ` +
				`PostgreSQL ${major}, which cannot read it. Go back to the earlier version of Oplink, or dump the database ` +
				`with PostgreSQL ${version.trim()} and restore it into an empty DATA_DIR.`,
		);
	}

	return checkAccess(directory);
};

/** The user of a DATA_DIR's cluster: its owner, or the owner of the future one. */
export const clusterRunner = async (dataDir: string): Promise<Identity> => {
	const owner = await clusterIdentity(path.join(dataDir, CLUSTER_NAME)).catch(() => null);
	return owner === null || owner.uid === 0 ? newClusterIdentity() : owner;
};

const checkAccess = async (directory: string): Promise<Cluster> => {
	const owner = (await stat(directory)).uid;
	if (isRoot() ? owner === 0 : owner !== process.getuid?.()) {
		throw new EmbeddedPostgresError(
			isRoot()
				? `The database in ${directory} belongs to root, but PostgreSQL does not run as root. Give it to another user (chown -R).`
				: `The database in ${directory} belongs to the user with id ${owner}. Run as that user or as root.`,
		);
	}

	const identity = await clusterIdentity(directory);
	if (!(await canEnter(identity, directory))) {
		throw new EmbeddedPostgresError(
			`The user with id ${owner} owns the database in ${directory}, but cannot enter that folder. ` +
				`Let others pass through the folders above it (chmod o+x). ${elsewhere}`,
		);
	}

	return {directory, identity};
};

/** The folder for a new cluster: DATA_DIR, or the shared folder if PostgreSQL's user cannot enter DATA_DIR. */
export const chooseParent = async (dataDir: string): Promise<string> =>
	(await canEnter(await newClusterIdentity(), dataDir)) ? dataDir : makeSharedBase();

const DRAFT = /^\.postgres-(\d+)-/;

/** Name pattern of an unfinished cluster, with its creator's pid. */
export const draftPrefix = (): string => `.postgres-${process.pid}-`;

/** Whether a process has this pid, of any user. */
export const isAlive = (pid: number): boolean => {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return errorCode(error) !== 'ESRCH';
	}
};

/** Removes unfinished clusters of dead processes. One with our pid is an earlier process's if it is older than us. */
export const removeAbandonedDrafts = async (parent: string): Promise<void> => {
	for (const name of await readdir(parent)) {
		const pid = Number(DRAFT.exec(name)?.[1]);
		const draft = path.join(parent, name);
		const isAbandoned =
			pid === process.pid
				? ((await stat(draft).catch(() => null))?.birthtimeMs ?? Number.POSITIVE_INFINITY) < performance.timeOrigin
				: pid > 0 && !isAlive(pid);
		if (isAbandoned) {
			// A leftover initdb may still write; the rest is removed at the next start.
			await rm(draft, {recursive: true, force: true, maxRetries: 3}).catch(() => {});
		}
	}
};

/** The path of a relocated cluster, new each time, so that removing DATA_DIR yields an empty database. */
export const relocatedPath = (dataDir: string, random: string): string =>
	path.join(sharedBase, `${path.basename(dataDir)}-${random}`);
