import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {
	closeSync,
	copyFileSync,
	fstatSync,
	linkSync,
	mkdirSync,
	openSync,
	readdirSync,
	readSync,
	renameSync,
	rmSync,
} from 'node:fs';
import {readdir} from 'node:fs/promises';
import {connect, createServer} from 'node:net';
import path from 'node:path';
import type {Logger} from 'pino';
import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {run, sql} from '../../../platform/db/sql.ts';
import {decodeFrames, findFrame, HEADER_BYTES, MAX_PAYLOAD_BYTES} from './section.ts';

/** The folder of a journal that this process writes. It holds its lock until it ends. */
export type JournalFolder = {folder: string; unlock(): void};

/** The folder of a database's journals. Each database has its own: no click is drained into another one. */
export const journalRoot = async (db: Db, dataDir: string): Promise<string> => {
	const statement = sql`SELECT system_identifier || '-' || (SELECT oid FROM pg_database WHERE datname = current_database())
			AS name FROM pg_control_system()`;
	return path.join(dataDir, 'journal', onlyRow(await run<{name: string}>(db, statement)).name);
};

/** The address of a folder's lock in at most 107 bytes, however long the folder's path is. */
const withAddress = (folder: string): {address: string; close(): void} => {
	if (process.platform !== 'linux') {
		return {address: path.join(folder, 'lock'), close: () => {}};
	}

	const opened = openSync(folder, 'r');
	return {address: `/proc/self/fd/${opened}/lock`, close: () => closeSync(opened)};
};

/**
 * Creates a journal's folder and locks it by listening on a Unix socket in it: the kernel ends the lock with the process,
 * and other containers on the same volume see it. The folder gets its name once it is locked.
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
export const findAbandoned = async (root: string): Promise<string[]> => {
	const names = (await readdir(root)).filter((name) => !name.startsWith('.'));
	const folders = names.map((name) => path.join(root, name));
	// Another process may just have removed one.
	const locked = await Promise.all(folders.map((folder) => isLocked(folder).catch(() => true)));
	return folders.filter((_, index) => !locked[index]);
};

/** A position in a journal: everything before it is in the tables. */
export type Position = {segment: number; position: number};

export const isBefore = (one: Position, other: Position): boolean =>
	one.segment < other.segment || (one.segment === other.segment && one.position < other.position);

/** A journal is a folder of numbered files. Only the last file is written to, by appending. */
export const segmentPath = (folder: string, segment: number): string =>
	path.join(folder, `${String(segment).padStart(8, '0')}.log`);

/** The numbers of the existing files, oldest first. */
const listSegments = (folder: string): number[] =>
	readdirSync(folder)
		.flatMap((name) => /^(\d{8})\.log$/.exec(name)?.[1] ?? [])
		.map(Number)
		.sort((a, b) => a - b);

/** Each existing file that has bytes after a position, oldest first, and where they begin in it. */
const filesFrom = (folder: string, from: Position): Position[] =>
	listSegments(folder)
		.filter((segment) => segment >= from.segment)
		.map((segment) => ({segment, position: segment === from.segment ? from.position : 0}));

/**
 * Bytes read at once, for one transaction: more than the longest frame, and enough to make a transaction's fixed cost
 * small per click.
 */
const CHUNK_BYTES = 4 * 1024 * 1024;

const readFrom = (folder: string, {segment, position: start}: Position): Buffer => {
	const fd = openSync(segmentPath(folder, segment), 'r');
	try {
		const length = Math.min(fstatSync(fd).size - start, CHUNK_BYTES);
		const bytes = Buffer.allocUnsafe(Math.max(length, 0));
		return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start));
	} finally {
		closeSync(fd);
	}
};

/** Bytes that form no complete frame, with frames after them or at the end of a completed file. */
type Damage = Position & {bytes: number};

type Chunk = {payloads: Buffer[]; damage: Damage[]; to: Position};

/** Bytes that may be the start of a frame whose end was not read. */
const MAX_FRAME = HEADER_BYTES + MAX_PAYLOAD_BYTES;

/** Skips the damage at the start of `bytes`, up to the next complete frame. */
const skipDamage = (bytes: Buffer): {payloads: Buffer[]; skipped: number; end: number} | null => {
	const next = findFrame(bytes);
	if (next !== null) {
		return {skipped: next, ...decodeFrames(bytes, next)};
	}

	const skipped = bytes.length - MAX_FRAME;
	return bytes.length < CHUNK_BYTES ? null : {payloads: [], skipped, end: skipped};
};

/**
 * Reads the next complete frames at or after a position, from the first file that has any, and the damage before them.
 * Synchronous: the bytes were just written and are in the page cache.
 * @returns null if there are none; else `to` is the position after them, in the same file.
 */
export const readChunk = (folder: string, from: Position): Chunk | null => {
	const damage: Damage[] = [];
	// List the files before reading any: a file is complete if a later one exists.
	for (const file of filesFrom(folder, from)) {
		const {segment, position: start} = file;
		const bytes = readFrom(folder, file);
		const {payloads, end} = decodeFrames(bytes);
		if (payloads.length > 0) {
			return {payloads, damage, to: {segment, position: start + end}};
		}

		const beyond = skipDamage(bytes);
		if (beyond !== null) {
			damage.push({...file, bytes: beyond.skipped});
			return {payloads: beyond.payloads, damage, to: {segment, position: start + beyond.end}};
		}

		if (bytes.length > 0) {
			damage.push({...file, bytes: bytes.length});
		}
	}

	return null;
};

/** The bytes behind the last complete frame of an abandoned journal that is drained up to a position. */
export const restBehind = (folder: string, from: Position): Damage[] =>
	filesFrom(folder, from)
		.map((file) => ({...file, bytes: readFrom(folder, file).length}))
		.filter(({bytes}) => bytes > 0);

/** Whether the bytes after a position contain one of the texts. True if they are too many to read at once. */
export const mentionsOf = (folder: string, from: Position, texts: readonly string[]): boolean =>
	filesFrom(folder, from).some((file) => {
		const bytes = readFrom(folder, file);
		return bytes.length >= CHUNK_BYTES || texts.some((text) => bytes.includes(text));
	});

/** Removes the files before the one that a position is in. */
export const removeBefore = (folder: string, {segment}: Position): void => {
	for (const drained of listSegments(folder).filter((number) => number < segment)) {
		rmSync(segmentPath(folder, drained), {force: true});
	}
};

/** Handles bytes of a journal file that form no complete frame, before the drain skips them. */
export type OnDamage = (folder: string, damage: Damage) => void;

/**
 * The folder for copies of damaged files, beside the journals of all databases. Nothing drains or removes it.
 * @param folder the journal's folder.
 */
export const damagedCopyPath = (folder: string, segment: number): string =>
	path.join(folder, '..', '..', 'damaged', `${path.basename(folder)}-${path.basename(segmentPath(folder, segment))}`);

const keep = (from: string, to: string): void => {
	mkdirSync(path.dirname(to), {recursive: true, mode: 0o700});
	try {
		linkSync(from, to);
	} catch (error) {
		// Copied already, for other damage in the same file or by an attempt that failed later.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
			// File systems without hard links.
			copyFileSync(from, to);
		}
	}
};

/** Keeps a copy of each damaged file and logs each damaged range once. */
export const createDamageKeeper = (log: Logger): OnDamage => {
	const logged = new Set<string>();
	return (folder, damage) => {
		const file = damagedCopyPath(folder, damage.segment);
		keep(segmentPath(folder, damage.segment), file);
		const part = `${file}:${damage.position}`;
		if (!logged.has(part)) {
			logged.add(part);
			const {position: offset, bytes} = damage;
			log.error({file, offset, bytes}, 'part of a click journal is unreadable; skipping it and keeping the file');
		}
	};
};
