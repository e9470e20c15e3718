import {closeSync, fdatasync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync} from 'node:fs';
import type {Entry} from './entry.ts';
import {encodeFrame, MAX_PAYLOAD_BYTES} from './frame.ts';
import type {Position} from './position.ts';
import {encodeSection} from './section.ts';
import {segmentPath} from './segments.ts';

/** A file that has grown to this is followed by another one, so that what is drained can be removed. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** How long a disk that refused a write is left alone. */
const REST_MS = 1000;
/** UTF-16 units of a batch, each of which may become three bytes. */
const BATCH_LENGTH = MAX_PAYLOAD_BYTES / 4;

/** What a click adds to the summary of its batch at most. */
const SUMMARY_LENGTH = 160;

/** What is written at one time: all of it is kept, or none. */
type Batch = {
	entries: Entry[];
	length: number;
	done: Promise<Position>;
	keep: (end: Position) => void;
	fail: (error: unknown) => void;
};

const createBatch = (): Batch => {
	let keep: Batch['keep'] = () => {};
	let fail: Batch['fail'] = () => {};
	const done = new Promise<Position>((resolve, reject) => {
		keep = resolve;
		fail = reject;
	});
	return {entries: [], length: 0, done, keep, fail};
};

/** Appends to the files of a journal. */
export type Writer = {
	/**
	 * Resolves when the click is the kernel's, so that it outlives this process, with where they end.
	 * @throws what the disk refuses.
	 */
	append(entry: Entry): Promise<Position>;
	/** Where the last frame ends. */
	end(): Position;
	/** Bytes that were written after a position. */
	bytesAfter(position: Position): number;
	/** Has the disk keep what was written. */
	sync(): void;
	close(): void;
};

const writeAll = (fd: number, bytes: Buffer): void => {
	for (let from = 0; from < bytes.length; ) {
		from += writeSync(fd, bytes, from);
	}
};

/**
 * All that comes within one turn of the event loop is one write, made at its end. The write is waited for there and
 * not in a thread: it copies to the page cache, which takes less than to wake a thread, and whoever could be served
 * meanwhile waits for it as well. The folder and its files are made by the first one.
 */
export const createWriter = (folder: string): Writer => {
	/** Length of each file, by its number. */
	const lengths: number[] = [];
	let fd: number | null = null;
	let isSynced = true;
	let restsUntil = 0;
	let waiting: Batch[] = [];
	let end: Position = {segment: 0, position: 0};
	const length = (): number => lengths.at(-1) ?? 0;

	const openNext = (): number => {
		if (fd !== null) {
			const full = fd;
			fdatasync(full, () => closeSync(full));
			fd = null;
		}

		mkdirSync(folder, {recursive: true, mode: 0o700});
		// A number is used once, also where its file could not be made.
		lengths.push(0);
		fd = openSync(segmentPath(folder, lengths.length - 1), 'ax', 0o600);
		return fd;
	};

	/** Takes back what of a frame has been written: nobody was told of it. What follows goes into another file. */
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
			// Should the click be found there after all, its id tells that it was written elsewhere, too.
		}

		closeSync(broken);
	};

	const write = ({entries, keep, fail}: Batch): void => {
		try {
			const frame = encodeFrame(encodeSection(entries));
			writeAll(fd === null || length() >= SEGMENT_BYTES ? openNext() : fd, frame);
			lengths[lengths.length - 1] = length() + frame.length;
			isSynced = false;
			end = {segment: lengths.length - 1, position: length()};
			keep(end);
		} catch (error) {
			abandon();
			fail(error);
		}
	};

	const flush = (): void => {
		const batches = waiting;
		waiting = [];
		batches.forEach(write);
	};

	return {
		append: (entry) => {
			if (restsUntil > performance.now()) {
				return Promise.reject(new Error('the disk rejected the journal a moment ago'));
			}

			let batch = waiting.at(-1);
			if (batch === undefined) {
				setImmediate(flush);
			}

			// The context is in the summary, which is JSON.
			const length = entry.click.length + entry.match.length + 2 * entry.context.length + SUMMARY_LENGTH;
			if (batch === undefined || batch.length + length > BATCH_LENGTH) {
				batch = createBatch();
				waiting.push(batch);
			}

			batch.entries.push(entry);
			batch.length += length;
			return batch.done;
		},
		end: () => end,
		bytesAfter: ({segment, position}) =>
			lengths.slice(segment).reduce((sum, bytes) => sum + bytes, 0) - (segment < lengths.length ? position : 0),
		sync: () => {
			if (!isSynced && fd !== null) {
				isSynced = true;
				fdatasync(fd, () => {});
			}
		},
		close: () => {
			flush();
			if (fd !== null) {
				closeSync(fd);
				fd = null;
			}
		},
	};
};
