import {closeSync, fstatSync, openSync, readdirSync, readSync, rmSync} from 'node:fs';
import path from 'node:path';
import {decodeFrames, findFrame, HEADER_BYTES, MAX_PAYLOAD_BYTES} from './frame.ts';

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
export type Damage = Position & {bytes: number};

type Chunk = {payloads: Buffer[]; damage: Damage[]; to: Position};

/** Bytes that may be the start of a frame whose end was not read. */
const MAX_FRAME = HEADER_BYTES + MAX_PAYLOAD_BYTES;

/** Skips the damage at the start of `bytes`, up to the next complete frame. */
const passOver = (bytes: Buffer): {payloads: Buffer[]; skipped: number; end: number} | null => {
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

		const beyond = passOver(bytes);
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
