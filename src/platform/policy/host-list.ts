import {isUtf8} from 'node:buffer';
import {hash} from 'node:crypto';
import {readFile, stat} from 'node:fs/promises';
import {setImmediate as turn} from 'node:timers/promises';
import {addressOf, isAddress, type ListFormat, linesOf, normalHost, readers} from './list-lines.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 2_000_000;
/** The shortest entry in bytes, with the end of its line. */
const MIN_ENTRY = 3;
/** Slots for each entry: a look-up ends at the first free one. */
const SLOTS_PER_ENTRY = 1.5;
/** Lines that are read before other work has its turn: a few milliseconds. */
const LINES_PER_TURN = 2000;

/** The first 64 bits of SHA-256: a stranger's host collides with an entry of 2,000,000 with a chance of 1e-13. */
type Digest = readonly [low: number, high: number];

const digestOf = (text: string): Digest => {
	// Hashing to text takes half the time of hashing to a buffer.
	const digits = hash('sha256', text, 'hex');
	// 0 marks a free slot.
	return [Number.parseInt(digits.slice(0, 8), 16) || 1, Number.parseInt(digits.slice(8, 16), 16)];
};

/**
 * The digests of an address that lists are searched for: of its host, of the domains above that, and of the whole
 * address. Few lists need the last two.
 */
type AddressDigests = {host: Digest; above(): Digest[]; address(): Digest};

/** An address that needs no URL parser for its host: most are stored like that, and a check of all links reads them. */
const PLAIN_ADDRESS = /^https?:\/\/(?![^/]*xn--)((?:[a-z0-9_-]+\.)+[a-z_-][a-z0-9_-]*)(?=[/?#]|$)/;

/** Digests an address. @returns null unless it is a URL. */
export const digestsOf = (address: string): AddressDigests | null => {
	const plain = PLAIN_ADDRESS.exec(address)?.[1];
	if (plain === undefined && !URL.canParse(address)) {
		return null;
	}

	const host = plain ?? normalHost(new URL(address).hostname);
	return {
		host: digestOf(host),
		above: () => {
			const labels = isAddress(host) ? [] : host.split('.');
			return labels.slice(1, -1).map((_, index) => digestOf(labels.slice(index + 1).join('.')));
		},
		address: () => digestOf(addressOf(new URL(address))),
	};
};

/** The entries of a list of hosts or URLs: 2,000,000 of them take 24 MB. */
export class HostList {
	readonly #format: ListFormat;
	/** Both halves of each digest, at the first free slot from its own. */
	readonly #slots: Uint32Array;
	/** The time of its file. */
	readonly since: Date;
	entries = 0;
	/** The number of lines in another format. */
	skipped = 0;

	/** @param most entries that will be added. */
	constructor(format: ListFormat, most = 0, since = new Date(0)) {
		this.#format = format;
		this.since = since;
		this.#slots = new Uint32Array(2 * Math.ceil(most * SLOTS_PER_ENTRY + 1));
	}

	add(text: string): void {
		const digest = digestOf(text);
		this.#slots.set(digest, this.#slotOf(digest));
		this.entries += 1;
	}

	includes({host, above, address}: AddressDigests): boolean {
		const has = (digest: Digest): boolean => this.#slots[this.#slotOf(digest)] !== 0;
		return (
			has(host) || (this.#format === 'domains' && above().some(has)) || (this.#format === 'urls' && has(address()))
		);
	}

	/** The slot of a digest; the one to put it into if it is not there. */
	#slotOf([low, high]: Digest): number {
		const slots = this.#slots;
		let at = 2 * (high % (slots.length / 2));
		while (slots[at] !== 0 && (slots[at] !== low || slots[at + 1] !== high)) {
			at = (at + 2) % slots.length;
		}

		return at;
	}
}

/** The bytes of a list, and their time. @throws the rest of a sentence for a file that cannot be a list. */
const readBytes = async (file: string): Promise<{bytes: Buffer; since: Date}> => {
	const stats = await stat(file);
	const fault = stats.isFile() ? stats.size === 0 && 'is empty' : 'is not a file';
	if (fault || stats.size > MAX_BYTES) {
		throw new Error(fault || 'is larger than 64 MB');
	}

	const bytes = await readFile(file);
	if (!isUtf8(bytes)) {
		throw new Error('is not UTF-8');
	}

	return {bytes, since: stats.mtime};
};

/**
 * Reads a list, with turns for other work.
 * @throws the rest of a sentence for a file that is missing, too large, not UTF-8, or has lines of other forms alone.
 */
export const readHostList = async (file: string, format: ListFormat): Promise<HostList> => {
	const {bytes, since} = await readBytes(file);
	const list = new HostList(format, Math.min(MAX_ENTRIES, bytes.length / MIN_ENTRY), since);
	let lines = 0;
	for (const line of linesOf(bytes)) {
		const entries = line === '' ? [] : readers[format](line);
		list.skipped += entries === null ? 1 : 0;
		for (const entry of entries ?? []) {
			if (list.entries === MAX_ENTRIES) {
				throw new Error('has more than 2,000,000 entries');
			}

			list.add(entry);
		}

		lines += 1;
		if (lines % LINES_PER_TURN === 0) {
			await turn();
		}
	}

	if (list.entries === 0 && list.skipped > 0) {
		throw new Error(`has no line that is an entry of the format ${format}`);
	}

	return list;
};
