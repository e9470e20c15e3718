import {closeSync, fdatasync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync} from 'node:fs';
import type {Entry} from './entry.ts';
import {isBefore, type Position, segmentPath} from './files.ts';
import {encodeFrame, encodeSection, MAX_PAYLOAD_BYTES} from './section.ts';

/** A file of this size is followed by a new one, because only complete files are removed. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** How long writes pause after the disk refused one. */
const REST_MS = 1000;
/** Length of a batch in UTF-16 units, each of which may take three bytes. */
const BATCH_LENGTH = MAX_PAYLOAD_BYTES / 4;
/** Maximum bytes that a click adds to the summary of its batch. */
const SUMMARY_LENGTH = 160;
/** Clicks within this time share an age: an hour without a database needs little memory. */
const TOGETHER_MS = 100;

/** Receives the disk's error, or null: the click is in the kernel's page cache, and survives this process. */
type Done = (error: unknown) => void;

/** A group commit: all of it is stored, or nothing. `done` has a callback for each entry. */
type Batch = {entries: Entry[]; length: number; done: Done[]};

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
export class JournalWriter {
	readonly #folder: string;
	/** Length of each file, by its number. */
	readonly #lengths: number[] = [];
	#fd: number | null = null;
	#isSynced = true;
	#restsUntil = 0;
	#waiting: Batch[] = [];
	/** When the clicks up to a position, which are not drained yet, began to be written. */
	#undrained: Array<{end: Position; since: number}> = [];
	#end: Position = {segment: 0, position: 0};

	constructor(folder: string) {
		this.#folder = folder;
	}

	/** Stores a click at the end of this turn of the event loop, and calls `done`, which does not throw. */
	append(entry: Entry, done: Done): void {
		if (this.#restsUntil > 0 && this.#restsUntil > performance.now()) {
			done(new Error('the disk rejected the journal a moment ago'));
			return;
		}

		let batch = this.#waiting.at(-1);
		if (batch === undefined) {
			setImmediate(() => this.#flush());
		}

		// The context is part of the summary, which is JSON.
		const length = entry.click.length + entry.match.length + 2 * entry.context.length + SUMMARY_LENGTH;
		if (batch === undefined || batch.length + length > BATCH_LENGTH) {
			batch = {entries: [], length: 0, done: []};
			this.#waiting.push(batch);
		}

		batch.entries.push(entry);
		batch.length += length;
		batch.done.push(done);
	}

	/** The position behind the last frame. */
	get end(): Position {
		return this.#end;
	}

	/** Number of bytes after a position. */
	bytesAfter({segment, position}: Position): number {
		const bytes = this.#lengths.slice(segment).reduce((sum, length) => sum + length, 0);
		return bytes - (segment < this.#lengths.length ? position : 0);
	}

	/** Everything before the position is in the tables. */
	drainedTo(position: Position): void {
		this.#undrained = this.#undrained.filter(({end}) => isBefore(position, end));
	}

	/** Age of the oldest click that is not drained, in seconds; 0 if there is none. */
	oldestSeconds(): number {
		const [oldest] = this.#undrained;
		return oldest === undefined ? 0 : (performance.now() - oldest.since) / 1000;
	}

	/** Syncs the written files to disk. */
	sync(): void {
		if (!this.#isSynced && this.#fd !== null) {
			this.#isSynced = true;
			fdatasync(this.#fd, () => {});
		}
	}

	close(): void {
		this.#flush();
		if (this.#fd !== null) {
			closeSync(this.#fd);
			this.#fd = null;
		}
	}

	#flush(): void {
		const batches = this.#waiting;
		this.#waiting = [];
		for (const batch of batches) {
			this.#write(batch);
		}
	}

	#write({entries, done}: Batch): void {
		let failure: unknown = null;
		try {
			const frame = encodeFrame(encodeSection(entries));
			writeAll(this.#fd === null || this.#length() >= SEGMENT_BYTES ? this.#openNext() : this.#fd, frame);
			const position = this.#length() + frame.length;
			this.#lengths[this.#lengths.length - 1] = position;
			this.#isSynced = false;
			this.#end = {segment: this.#lengths.length - 1, position};
			const now = performance.now();
			const last = this.#undrained.at(-1);
			if (last !== undefined && now - last.since < TOGETHER_MS) {
				last.end = this.#end;
			} else {
				this.#undrained.push({end: this.#end, since: now});
			}
		} catch (error) {
			this.#abandon();
			failure = error;
		}

		for (const callback of done) {
			callback(failure);
		}
	}

	/** Length of the last file. */
	#length(): number {
		return this.#lengths.at(-1) ?? 0;
	}

	#openNext(): number {
		if (this.#fd !== null) {
			const full = this.#fd;
			fdatasync(full, () => closeSync(full));
			this.#fd = null;
		}

		mkdirSync(this.#folder, {recursive: true, mode: 0o700});
		// A number is used once, even if its file could not be created.
		this.#lengths.push(0);
		this.#fd = openSync(segmentPath(this.#folder, this.#lengths.length - 1), 'ax', 0o600);
		return this.#fd;
	}

	/** Truncates a partly written frame, which nothing relies on yet. Later frames go to a new file. */
	#abandon(): void {
		this.#restsUntil = performance.now() + REST_MS;
		if (this.#fd === null) {
			return;
		}

		const broken = this.#fd;
		this.#fd = null;
		try {
			ftruncateSync(broken, this.#length());
			if (this.#length() === 0) {
				rmSync(segmentPath(this.#folder, this.#lengths.length - 1));
			}
		} catch {
			// If the click is later found in this frame as well, its id shows the duplicate.
		}

		closeSync(broken);
	}
}
