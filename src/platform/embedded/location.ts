import {lstat, mkdir, readdir, readFile, realpath} from 'node:fs/promises';
import path from 'node:path';
import {EmbeddedPostgresError, elsewhere, errorCode} from './embedded-errors.ts';
import {canEnter, clusterIdentity, type Identity, isRoot} from './identity.ts';

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
				`Let others pass through the folders above it (chmod o+x). ${elsewhere}`,
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
