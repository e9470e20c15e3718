import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {closeSync, mkdirSync, openSync, renameSync} from 'node:fs';
import {readdir, rm} from 'node:fs/promises';
import {connect, createServer} from 'node:net';
import path from 'node:path';
import {type Db, onlyRow} from '../../../platform/db/db.ts';

/** The folder of a journal that this process writes. It holds its lock until it ends. */
export type JournalFolder = {folder: string; unlock(): void};

/** The folder of a database's journals. Each database has its own, so that no click is drained into another one. */
export const journalRoot = async (db: Db, dataDir: string): Promise<string> => {
	const {rows} = await db.raw<{rows: Array<{name: string}>}>(
		`SELECT system_identifier || '-' || (SELECT oid FROM pg_database WHERE datname = current_database()) AS name
		FROM pg_control_system()`,
	);
	return path.join(dataDir, 'journal', onlyRow(rows).name);
};

/** Reaches a lock, whose address has at most 107 bytes, while a folder may have more. */
const withAddress = (folder: string): {address: string; close(): void} => {
	if (process.platform !== 'linux') {
		return {address: path.join(folder, 'lock'), close: () => {}};
	}

	const opened = openSync(folder, 'r');
	return {address: `/proc/self/fd/${opened}/lock`, close: () => closeSync(opened)};
};

/**
 * Creates a journal's folder and locks it by listening on a Unix socket in it: the kernel ends the lock with the process,
 * however that ends, and other containers on the same volume see it. The folder gets its name once it is locked.
 */
export const createJournalFolder = async (root: string): Promise<JournalFolder> => {
	const id = randomUUID();
	const [unnamed, folder] = [path.join(root, `.${id}`), path.join(root, id)];
	mkdirSync(unnamed, {recursive: true, mode: 0o700});
	const {address, close} = withAddress(unnamed);
	const server = createServer((socket) => socket.destroy()).unref();
	try {
		// Not through the supervisor, which would keep listening after the death of its worker.
		server.listen({path: address, exclusive: true});
		await once(server, 'listening');
		renameSync(unnamed, folder);
	} catch (error) {
		close();
		throw error;
	}

	return {
		folder,
		unlock: () => {
			server.close();
			close();
		},
	};
};

/** Whether a process listens at an address. One that is stopped or busy does, too. */
const isListening = (address: string): Promise<boolean> =>
	new Promise((resolve) => {
		const socket = connect(address, () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', ({code}: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
	});

const isLocked = async (folder: string): Promise<boolean> => {
	const {address, close} = withAddress(folder);
	return isListening(address).finally(close);
};

/** The journals of processes that have ended. */
export const findLeft = async (root: string): Promise<string[]> => {
	const names = (await readdir(root)).filter((name) => !name.startsWith('.'));
	const folders = names.map((name) => path.join(root, name));
	// One that another process has just removed is not left.
	const locked = await Promise.all(folders.map((folder) => isLocked(folder).catch(() => true)));
	return folders.filter((_, index) => !locked[index]);
};

export const removeFolder = (folder: string): Promise<void> => rm(folder, {recursive: true, force: true});
