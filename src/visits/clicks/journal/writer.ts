import {closeSync, fdatasync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync} from 'node:fs';
import type {Entry} from './entry.ts';
import {encodeFrame, MAX_PAYLOAD_BYTES} from './frame.ts';
import {encodeSection} from './section.ts';
import {isBefore, type Position, segmentPath} from './segments.ts';

/** A file of this size is followed by a new one, so that drained files can be removed. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** How long writes pause after the disk refused one. */
const REST_MS = 1000;
/** Length of a batch in UTF-16 units, each of which may take three bytes. */
const BATCH_LENGTH = MAX_PAYLOAD_BYTES / 4;

/** The most that a click adds to the summary of its batch. */
const SUMMARY_LENGTH = 160;

/** Clicks within this time are of one age, so that an hour without a database needs little memory. */
const TOGETHER_MS = 100;

/** A group commit: all of it is stored, or nothing. */
type Batch = {
	entries: Entry[];
	length: number;
	/** Of each entry. */
	done: Done[];
};

/** Receives the disk's error, or null: the click is in the kernel's page cache, so that it outlives this process. */
type Done = (error: unknown) => void;

const writeAll = (fd: number, bytes: Buffer): void => {
	for (let from = 0; from < bytes.length; ) {
		from += writeSync(fd, bytes, from);
	}
};

/**
 * Group commit: all clicks of one turn of the event loop are one write, made at its end. The write is synchronous:
 * copying to the page cache is cheaper than waking a pool thread, and all requests of this turn wait for it anyway. The
 * first write creates the folder and its files.
 */
export const createWriter = (folder: string) => {
	/** Length of each file, by its number. */
	const lengths: number[] = [];
	let fd: number | null = null;
	let isSynced = true;
	let restsUntil = 0;
	let waiting: Batch[] = [];
	/** When the clicks up to a position, which are not drained yet, began to be written. */
	let waitingSince: Array<{end: Position; since: number}> = [];
	let end: Position = {segment: 0, position: 0};
	const length = (): number => lengths.at(-1) ?? 0;

	const openNext = (): number => {
		if (fd !== null) {
			const full = fd;
			fdatasync(full, () => closeSync(full));
			fd = null;
		}

		mkdirSync(folder, {recursive: true, mode: 0o700});
		// A number is used once, even if its file could not be created.
		lengths.push(0);
		fd = openSync(segmentPath(folder, lengths.length - 1), 'ax', 0o600);
		return fd;
	};

	/** Truncates a partly written frame, which nobody relies on yet. Later frames go to a new file. */
	const abandon = (): void => {
		restsUntil = performance.now() + REST_MS;
		if (fd === null) {
			return;
		}

		const broken = fd;
		fd = null;
		try {
			ftruncateSync(broken, length());
			if (length() === 0) {
				rmSync(segmentPath(folder, lengths.length - 1));
			}
		} catch {
			// If the click is later found in this frame as well, its id shows the duplicate.
		}

		closeSync(broken);
	};

	const write = ({entries, done}: Batch): void => {
		let failure: unknown = null;
		try {
			const frame = encodeFrame(encodeSection(entries));
			writeAll(fd === null || length() >= SEGMENT_BYTES ? openNext() : fd, frame);
			lengths[lengths.length - 1] = length() + frame.length;
			isSynced = false;
			end = {segment: lengths.length - 1, position: length()};
			const now = performance.now();
			const last = waitingSince.at(-1);
			if (last !== undefined && now - last.since < TOGETHER_MS) {
				last.end = end;
			} else {
				waitingSince.push({end, since: now});
			}
		} catch (error) {
			abandon();
			failure = error;
		}

		for (const callback of done) {
			callback(failure);
		}
	};

	const flush = (): void => {
		const batches = waiting;
		waiting = [];
		batches.forEach(write);
	};

	return {
		/** Stores a click at the end of this turn of the event loop, and calls `done`, which does not throw. */
		append: (entry: Entry, done: Done): void => {
			if (restsUntil > 0 && restsUntil > performance.now()) {
				done(new Error('the disk rejected the journal a moment ago'));
				return;
			}

			let batch = waiting.at(-1);
			if (batch === undefined) {
				setImmediate(flush);
			}

			// The context is part of the summary, which is JSON.
			const length = entry.click.length + entry.match.length + 2 * entry.context.length + SUMMARY_LENGTH;
			if (batch === undefined || batch.length + length > BATCH_LENGTH) {
				batch = {entries: [], length: 0, done: []};
				waiting.push(batch);
			}

			batch.entries.push(entry);
			batch.length += length;
			batch.done.push(done);
		},
		/** The position behind the last frame. */
		end: (): Position => end,
		/** Number of bytes after a position. */
		bytesAfter: ({segment, position}: Position): number =>
			lengths.slice(segment).reduce((sum, bytes) => sum + bytes, 0) - (segment < lengths.length ? position : 0),
		/** Everything before the position is in the tables. */
		drainedTo: (position: Position): void => {
			waitingSince = waitingSince.filter((one) => isBefore(position, one.end));
		},
		/** Age of the oldest click that is not drained, in seconds; 0 if there is none. */
		oldestSeconds: (): number =>
			waitingSince[0] === undefined ? 0 : (performance.now() - waitingSince[0].since) / 1000,
		/** Syncs the written files to disk. */
		sync: (): void => {
			if (!isSynced && fd !== null) {
				isSynced = true;
				fdatasync(fd, () => {});
			}
		},
		close: (): void => {
			flush();
			if (fd !== null) {
				closeSync(fd);
				fd = null;
			}
		},
	};
};
