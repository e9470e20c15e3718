import {closeSync, fstatSync, openSync, readdirSync, readSync, rmSync} from 'node:fs';
import path from 'node:path';
import {decodeFrames, findFrame, HEADER_BYTES, MAX_PAYLOAD_BYTES} from './frame.ts';
import type {Position} from './position.ts';

/** A journal is a folder of numbered files. Only the last one is written to, and only at its end. */
export const segmentPath = (folder: string, segment: number): string =>
	path.join(folder, `${String(segment).padStart(8, '0')}.log`);

/** Numbers of the files that are there, the first written one first. */
export const listSegments = (folder: string): number[] =>
	readdirSync(folder)
		.flatMap((name) => /^(\d{8})\.log$/.exec(name)?.[1] ?? [])
		.map(Number)
		.sort((a, b) => a - b);

/**
 * Bytes that are read at once, which is one transaction: more than the longest frame, and so many that what a
 * transaction costs by itself is little for each click where many wait.
 */
const CHUNK_BYTES = 4 * 1024 * 1024;

const readFrom = (file: string, start: number): Buffer => {
	const fd = openSync(file, 'r');
	try {
		const length = Math.min(fstatSync(fd).size - start, Math.max(CHUNK_BYTES, MAX_PAYLOAD_BYTES + HEADER_BYTES));
		const bytes = Buffer.allocUnsafe(Math.max(length, 0));
		return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start));
	} finally {
		closeSync(fd);
	}
};

/** Bytes of a file that are no whole frame, with others after them or behind the last one of a file that is complete. */
export type Damage = {segment: number; position: number; bytes: number};

export type Chunk = {payloads: Buffer[]; damage: Damage[]; to: Position};

/** Bytes that may be the beginning of a frame whose end was not read. */
const LONGEST_FRAME = HEADER_BYTES + MAX_PAYLOAD_BYTES;

/** What stands at the beginning of `bytes`, which begins with no whole frame, is passed over to the next one. */
const passOver = (bytes: Buffer): {payloads: Buffer[]; skipped: number; end: number} | null => {
	const next = findFrame(bytes);
	if (next !== null) {
		return {skipped: next, ...decodeFrames(bytes, next)};
	}

	const skipped = bytes.length - LONGEST_FRAME;
	return bytes.length < CHUNK_BYTES ? null : {payloads: [], skipped, end: skipped};
};

/**
 * The next whole frames from a position on, in the first file that has any, and what is damaged before them. What is read
 * was written a moment ago and is in memory, so that no thread is asked for it.
 * @returns null where there are none. `to` stands behind them, in the file that they are in.
 */
export const readChunk = (folder: string, from: Position): Chunk | null => {
	const damage: Damage[] = [];
	// Listed before any is read: a file is complete where there is a later one.
	for (const segment of listSegments(folder).filter((number) => number >= from.segment)) {
		const start = segment === from.segment ? from.position : 0;
		const bytes = readFrom(segmentPath(folder, segment), start);
		const {payloads, end} = decodeFrames(bytes);
		if (payloads.length > 0) {
			return {payloads, damage, to: {segment, position: start + end}};
		}

		const beyond = passOver(bytes);
		if (beyond !== null) {
			damage.push({segment, position: start, bytes: beyond.skipped});
			return {payloads: beyond.payloads, damage, to: {segment, position: start + beyond.end}};
		}

		if (bytes.length > 0) {
			damage.push({segment, position: start, bytes: bytes.length});
		}
	}

	return null;
};

/** What stands behind the last whole frame of a journal that nobody writes any more, and that is read up to a position. */
export const restBehind = (folder: string, {segment, position}: Position): Damage[] =>
	listSegments(folder)
		.filter((number) => number >= segment)
		.map((number) => ({number, start: number === segment ? position : 0}))
		.map(({number, start}) => ({
			segment: number,
			position: start,
			bytes: readFrom(segmentPath(folder, number), start).length,
		}))
		.filter(({bytes}) => bytes > 0);

/** Whether what stands after a position has one of the texts in it; more than can be read at once may have. */
export const mentionsOf = (folder: string, from: Position, texts: string[]): boolean =>
	listSegments(folder)
		.filter((number) => number >= from.segment)
		.some((segment) => {
			const bytes = readFrom(segmentPath(folder, segment), segment === from.segment ? from.position : 0);
			return bytes.length >= CHUNK_BYTES || texts.some((text) => bytes.includes(text));
		});

/** Removes files that are done with: those before the one that a position is in. */
export const removeBefore = (folder: string, {segment}: Position): void => {
	for (const number of listSegments(folder).filter((number) => number < segment)) {
		rmSync(segmentPath(folder, number), {force: true});
	}
};
