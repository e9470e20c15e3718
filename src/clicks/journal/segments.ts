import {open, readdir, rm} from 'node:fs/promises';
import path from 'node:path';
import type {Position} from './entry-store.ts';
import {decodeFrames, HEADER_BYTES, MAX_PAYLOAD_BYTES} from './frame.ts';

/** A journal is a folder of numbered files. Only the last one is written to, and only at its end. */
export const segmentPath = (folder: string, segment: number): string =>
	path.join(folder, `${String(segment).padStart(8, '0')}.log`);

/** Numbers of the files that are there, the first written one first. */
export const listSegments = async (folder: string): Promise<number[]> =>
	(await readdir(folder))
		.flatMap((name) => /^(\d{8})\.log$/.exec(name)?.[1] ?? [])
		.map(Number)
		.sort((a, b) => a - b);

/** Bytes that are read at once; more than the longest frame. */
const CHUNK_BYTES = 1024 * 1024;

export type Chunk = {payloads: string[]; to: Position};

/**
 * The next whole frames from a position on, in the first file that has any.
 * @returns null where there are none. `to` stands behind them, in the file that they are in.
 */
export const readChunk = async (folder: string, from: Position): Promise<Chunk | null> => {
	const buffer = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, MAX_PAYLOAD_BYTES + HEADER_BYTES));
	for (const segment of (await listSegments(folder)).filter((number) => number >= from.segment)) {
		const start = segment === from.segment ? from.position : 0;
		const file = await open(segmentPath(folder, segment));
		try {
			const {bytesRead} = await file.read(buffer, 0, buffer.length, start);
			const {payloads, end} = decodeFrames(buffer.subarray(0, bytesRead));
			if (payloads.length > 0) {
				return {payloads, to: {segment, position: start + end}};
			}
		} finally {
			await file.close();
		}
	}

	return null;
};

/** Removes files that are done with: those before the one that a position is in. */
export const removeBefore = async (folder: string, {segment}: Position): Promise<void> => {
	for (const number of (await listSegments(folder)).filter((number) => number < segment)) {
		await rm(segmentPath(folder, number));
	}
};
