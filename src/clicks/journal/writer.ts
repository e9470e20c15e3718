import {closeSync, fdatasync, ftruncateSync, mkdirSync, openSync, rmSync, write} from 'node:fs';
import type {Position} from './entry-store.ts';
import {encodeFrame, MAX_PAYLOAD_BYTES} from './frame.ts';
import {segmentPath} from './segments.ts';

/** A file that has grown to this is followed by another one, so that what is drained can be removed. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** How long a disk that refused a write is left alone. */
const REST_MS = 1000;
/** UTF-16 units of a batch, each of which may become three bytes. */
const BATCH_LENGTH = MAX_PAYLOAD_BYTES / 4;

/** What is written at one time: all of it is kept, or none. */
type Batch = {lines: string; done: Promise<Position>; keep: (end: Position) => void; fail: (error: unknown) => void};

const createBatch = (): Batch => {
	let keep: Batch['keep'] = () => {};
	let fail: Batch['fail'] = () => {};
	const done = new Promise<Position>((resolve, reject) => {
		keep = resolve;
		fail = reject;
	});
	return {lines: '', done, keep, fail};
};

/** Appends to the files of a journal. */
export type Writer = {
	/**
	 * Resolves when the lines are the kernel's, so that they outlive this process, with where they end.
	 * @throws what the disk refuses.
	 */
	append(lines: string): Promise<Position>;
	/** Where the last frame ends. */
	end(): Position;
	/** Bytes that were written after a position. */
	bytesAfter(position: Position): number;
	/** Has the disk keep what was written. */
	sync(): void;
	close(): Promise<void>;
};

const writeAll = (fd: number, bytes: Buffer, from = 0): Promise<void> =>
	new Promise((resolve, reject) => {
		write(fd, bytes, from, bytes.length - from, null, (error, written) => {
			if (error !== null) {
				reject(error);
			} else if (from + written < bytes.length) {
				writeAll(fd, bytes, from + written).then(resolve, reject);
			} else {
				resolve();
			}
		});
	});

/**
 * All that comes within one turn of the event loop, or while a write is under way, is the next write: nobody waits for
 * more than the write before. The folder and its files are made by the first one.
 */
export const createWriter = (folder: string): Writer => {
	/** Length of each file, by its number. */
	const lengths: number[] = [];
	let fd: number | null = null;
	let isSynced = true;
	let isWriting = false;
	let restsUntil = 0;
	let idle = Promise.resolve();
	const waiting: Batch[] = [];
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

	const write = async ({lines, keep, fail}: Batch): Promise<void> => {
		try {
			const target = fd === null || length() >= SEGMENT_BYTES ? openNext() : fd;
			const frame = encodeFrame(lines);
			await writeAll(target, frame);
			lengths[lengths.length - 1] = length() + frame.length;
			isSynced = false;
			keep({segment: lengths.length - 1, position: length()});
		} catch (error) {
			abandon();
			fail(error);
		}
	};

	const flush = async (): Promise<void> => {
		for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
			await write(batch);
		}

		isWriting = false;
	};

	return {
		append: (lines) => {
			if (restsUntil > performance.now()) {
				return Promise.reject(new Error('the disk refused the journal a moment ago'));
			}

			let batch = waiting.at(-1);
			if (batch === undefined || batch.lines.length + lines.length > BATCH_LENGTH) {
				batch = createBatch();
				waiting.push(batch);
			}

			batch.lines += lines;
			if (!isWriting) {
				isWriting = true;
				idle = new Promise((resolve) => setImmediate(() => void flush().then(resolve)));
			}

			return batch.done;
		},
		end: () => ({segment: Math.max(lengths.length - 1, 0), position: length()}),
		bytesAfter: ({segment, position}) =>
			lengths.slice(segment).reduce((sum, bytes) => sum + bytes, 0) - (segment < lengths.length ? position : 0),
		sync: () => {
			if (!isSynced && fd !== null) {
				isSynced = true;
				fdatasync(fd, () => {});
			}
		},
		close: async () => {
			await idle;
			if (fd !== null) {
				closeSync(fd);
				fd = null;
			}
		},
	};
};
