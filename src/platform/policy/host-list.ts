import {isUtf8} from 'node:buffer';
import {readFileSync, type Stats, statSync} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {setImmediate as turn} from 'node:timers/promises';
import {digestOf, Hashes} from './hashes.ts';
import {addressOf, isAddress, type ListFormat, linesOf, readers} from './list-lines.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 2_000_000;
/** Lines that are read before other work has its turn: a few milliseconds. */
const LINES_PER_TURN = 2000;

/** The entries of a list of hosts or URLs. 2,000,000 of them take 16 MB. */
export class HostList {
	readonly #format: ListFormat;
	/** The lower and the upper half of each number, in order. */
	readonly #halves: Uint32Array;
	/** Lines of another form. */
	readonly skipped: number;

	constructor(format: ListFormat, numbers: BigUint64Array, skipped: number) {
		this.#format = format;
		this.#halves = new Uint32Array(numbers.buffer);
		this.skipped = skipped;
	}

	get entries(): number {
		return this.#halves.length / 2;
	}

	/** Whether an address is on the list. @param host as `normalHost` gives it. */
	includes(host: string, url: URL | null): boolean {
		if (this.#has(host)) {
			return true;
		}

		if (this.#format === 'urls') {
			return url !== null && this.#has(addressOf(url));
		}

		if (this.#format === 'hosts' || isAddress(host)) {
			return false;
		}

		for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
			if (this.#has(host.slice(dot + 1))) {
				return true;
			}
		}

		return false;
	}

	/** Halves as numbers: comparing bigints takes five times as long. */
	#has(text: string): boolean {
		const digest = digestOf(text);
		const [low, high] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
		const halves = this.#halves;
		let [from, to] = [0, halves.length / 2];
		while (from < to) {
			const middle = (from + to) >>> 1;
			const difference = (halves[middle * 2 + 1] ?? 0) - high || (halves[middle * 2] ?? 0) - low;
			if (difference === 0) {
				return true;
			}

			[from, to] = difference < 0 ? [middle + 1, to] : [from, middle];
		}

		return false;
	}
}

/** The fault of a file by its facts; null if it can be read. */
const sizeFault = (stats: Stats): string | null => {
	if (!stats.isFile()) {
		return 'is not a file';
	}

	return stats.size === 0 ? 'is empty' : stats.size > MAX_BYTES ? 'is larger than 64 MB' : null;
};

const NOT_UTF8 = 'is not UTF-8';
const noEntries = (format: ListFormat): string => `has no line that is an entry of the format ${format}`;

/** Why a list cannot be used, as the rest of a sentence, or null. Reads up to the first entry. */
export const hostListFault = (file: string, format: ListFormat): string | null => {
	try {
		const fault = sizeFault(statSync(file));
		if (fault !== null) {
			return fault;
		}

		const bytes = readFileSync(file);
		if (!isUtf8(bytes)) {
			return NOT_UTF8;
		}

		let isBare = true;
		for (const line of linesOf(bytes)) {
			if (line !== '' && readers[format](line) !== null) {
				return null;
			}

			isBare &&= line === '';
		}

		return isBare ? null : noEntries(format);
	} catch (error) {
		return `could not be read: ${(error as Error).message}`;
	}
};

/**
 * Reads a list, with turns for other work.
 * @throws the rest of a sentence for a file that is missing, too large, not UTF-8, or has lines of other forms alone.
 */
export const readHostList = async (file: string, format: ListFormat): Promise<HostList> => {
	const fault = sizeFault(await stat(file));
	const bytes = fault === null ? await readFile(file) : Buffer.alloc(0);
	if (fault !== null || !isUtf8(bytes)) {
		throw new Error(fault ?? NOT_UTF8);
	}

	const hashes = new Hashes();
	let skipped = 0;
	let lines = 0;
	for (const line of linesOf(bytes)) {
		const entries = line === '' ? [] : readers[format](line);
		skipped += entries === null ? 1 : 0;
		for (const entry of entries ?? []) {
			hashes.add(entry);
		}

		if (hashes.count > MAX_ENTRIES) {
			throw new Error('has more than 2,000,000 entries');
		}

		lines += 1;
		if (lines % LINES_PER_TURN === 0) {
			await turn();
		}
	}

	if (hashes.count === 0 && skipped > 0) {
		throw new Error(noEntries(format));
	}

	return new HostList(format, await hashes.sorted(), skipped);
};
