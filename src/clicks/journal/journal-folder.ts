import {constants} from 'node:fs';
import {mkdir, open, readdir, readFile, rm, stat} from 'node:fs/promises';
import {hostname} from 'node:os';
import path from 'node:path';
import {type Db, onlyRow} from '../../db/db.ts';

/** The journal folders of this process. The PID alone cannot distinguish them from those of an earlier process. */
const own = new Set<string>();

const ownerFile = (folder: string): string => path.join(folder, 'owner');

/** A folder whose owner sent no heartbeat for this long is abandoned. */
const SILENT_MS = 60_000;

/** The last change of each foreign folder, and when this process first saw it, by its monotonic clock. */
const seen = new Map<string, {mtimeMs: number; since: number}>();

/** The folder of a database's journals. Each database has its own, so that no click is drained into another one. */
export const journalRoot = async (db: Db, dataDir: string): Promise<string> => {
	const {rows} = await db.raw<{rows: Array<{name: string}>}>(
		`SELECT system_identifier || '-' || (SELECT oid FROM pg_database WHERE datname = current_database()) AS name
		FROM pg_control_system()`,
	);
	return path.join(dataDir, 'journal', onlyRow(rows).name);
};

/**
 * Writes a heartbeat; the first call creates the folder. The file is overwritten in place, which works on a full disk.
 */
export const claimFolder = async (folder: string): Promise<void> => {
	own.add(folder);
	await mkdir(folder, {recursive: true, mode: 0o700});
	const file = await open(ownerFile(folder), constants.O_RDWR | constants.O_CREAT, 0o600);
	try {
		await file.write(JSON.stringify({host: hostname(), pid: process.pid}), 0);
	} finally {
		await file.close();
	}
};

export const releaseFolder = (folder: string): void => {
	own.delete(folder);
};

export const removeFolder = (folder: string): Promise<void> => rm(folder, {recursive: true, force: true});

const isRunning = (pid: number): boolean => {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
};

/**
 * Whether a folder did not change while this process watched it. The wall clock cannot decide this: after a jump
 * forward every folder would seem old, and removing a living process's folder loses its clicks.
 */
const isSilent = async (folder: string): Promise<boolean> => {
	const {mtimeMs} = await stat(ownerFile(folder)).catch(() => stat(folder));
	const now = performance.now();
	const known = seen.get(folder);
	if (known?.mtimeMs !== mtimeMs) {
		seen.set(folder, {mtimeMs, since: now});
		return false;
	}

	return now - known.since > SILENT_MS;
};

const isAbandoned = async (folder: string): Promise<boolean> => {
	try {
		const {host, pid} = JSON.parse(await readFile(ownerFile(folder), 'utf8')) as {host: string; pid: number};
		if (host === hostname() && (pid === process.pid || !isRunning(pid))) {
			return true;
		}
	} catch {
		// Without a readable owner file, only elapsed time decides.
	}

	return isSilent(folder);
};

/** The journal folders of dead processes. @param claimed a folder of this process, which lies beside them. */
export const findAbandoned = async (claimed: string): Promise<string[]> => {
	const root = path.dirname(claimed);
	const folders = (await readdir(root)).map((name) => path.join(root, name)).filter((folder) => !own.has(folder));
	for (const folder of seen.keys()) {
		if (path.dirname(folder) === root && !folders.includes(folder)) {
			seen.delete(folder);
		}
	}

	const abandoned = await Promise.all(folders.map((folder) => isAbandoned(folder).catch(() => false)));
	return folders.filter((_, index) => abandoned[index]);
};
