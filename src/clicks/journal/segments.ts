import {closeSync, fstatSync, openSync, readdirSync, readSync, rmSync} from 'node:fs';
import path from 'node:path';
import type {Position} from './entry-store.ts';
import {decodeFrames, HEADER_BYTES, MAX_PAYLOAD_BYTES} from './frame.ts';

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

export type Chunk = {payloads: Buffer[]; to: Position};

/**
 * The next whole frames from a position on, in the first file that has any. What is read was written a moment ago and
 * is in memory, so that no thread is asked for it.
 * @returns null where there are none. `to` stands behind them, in the file that they are in.
 */
export const readChunk = (folder: string, from: Position): Chunk | null => {
	// Listed before any is read: a file is complete where there is a later one.
	for (const segment of listSegments(folder).filter((number) => number >= from.segment)) {
		const start = segment === from.segment ? from.position : 0;
		const {payloads, end} = decodeFrames(readFrom(segmentPath(folder, segment), start));
		if (payloads.length > 0) {
			return {payloads, to: {segment, position: start + end}};
		}
	}

	return null;
};

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
