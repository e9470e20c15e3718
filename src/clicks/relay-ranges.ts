import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import {isIP} from 'node:net';
import {setImmediate as turn} from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type {Logger} from 'pino';

/** The addresses of iCloud Private Relay, which many people share (contract/match 18). */
export type RelayRanges = {
	/** @param ip the caller's address as `clientIp` gives it. Until the file is read, none is known. */
	has(ip: string): boolean;
	/** Reads the file if it has changed since. @throws if it cannot be read; then the ranges stay. */
	refresh(): Promise<void>;
};

type Numbers = Uint32Array | BigUint64Array;

/** How many of the ascending numbers are less than `value`; at most that if `orEqual`. */
const countBelow = <N extends number | bigint>(numbers: ArrayLike<N>, value: N, orEqual: boolean): number => {
	let [low, high] = [0, numbers.length];
	while (low < high) {
		const middle = (low + high) >>> 1;
		const one = numbers[middle] as N;
		if (one < value || (orEqual && one === value)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}

	return low;
};

/** A typed array that grows. */
const growing = <A extends Numbers>(make: (length: number) => A) => {
	let numbers = make(1024);
	let length = 0;
	return {
		push: (value: A[number]): void => {
			if (length === numbers.length) {
				const more = make(2 * length);
				more.set(numbers as never);
				numbers = more;
			}

			numbers[length] = value;
			length += 1;
		},
		/** Sorted by the engine itself, which takes a tenth of a comparison in our code. */
		sorted: (): A => numbers.slice(0, length).sort() as A,
	};
};

type Ranges<N> = {count: number; has(value: N): boolean};

/**
 * Collects ranges as their first and last numbers, each sorted for itself: a number is in a range if more ranges have
 * begun up to it than have ended before it. Ranges may overlap.
 */
const collectRanges = <A extends Numbers>(make: (length: number) => A) => {
	const [firsts, lasts] = [growing(make), growing(make)];
	return {
		add: (from: A[number], to: A[number]): void => {
			firsts.push(from);
			lasts.push(to);
		},
		sorted: async (): Promise<Ranges<A[number]>> => {
			const first = firsts.sorted() as ArrayLike<number | bigint>;
			await turn();
			const last = lasts.sorted() as ArrayLike<number | bigint>;
			await turn();
			return {
				count: first.length,
				has: (value) => countBelow(first, value, true) > countBelow(last, value, false),
			};
		},
	};
};

const ipv4Number = (ip: string): number => ip.split('.').reduce((number, part) => number * 256 + Number(part), 0);

/** The first 64 bits. The rest belongs to one household, as everywhere here. */
const ipv6Number = (ip: string): bigint => {
	const [head = '', tail] = ip.split('::');
	const groups = head === '' ? [] : head.split(':');
	if (tail !== undefined) {
		const ending = tail === '' ? [] : tail.split(':');
		groups.push(...Array.from({length: 8 - groups.length - ending.length}, () => '0'), ...ending);
	}

	const word = (index: number): number =>
		Number.parseInt(groups[index] ?? '', 16) * 65_536 + Number.parseInt(groups[index + 1] ?? '', 16);
	return (BigInt(word(0)) << 32n) | BigInt(word(2));
};

/** An IPv4 address in an IPv6 one as itself. */
const plainOf = (ip: string): string =>
	ip.includes(':') && (ip.includes('.') || /^::ffff:/i.test(ip)) ? ipaddr.process(ip).toString() : ip;

/** Collects the prefixes of lines `prefix,country,region,city,`. */
const collectPrefixes = () => {
	const ipv4 = collectRanges((length) => new Uint32Array(length));
	const ipv6 = collectRanges((length) => new BigUint64Array(length));
	return {
		/** @returns whether the prefix is valid. */
		add: (prefix: string): boolean => {
			const [address = '', length = '', ...others] = prefix.split('/');
			const family = address.includes('%') ? 0 : isIP(address);
			const [width, bits] = [family === 4 ? 32 : 128, /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN];
			if (family === 0 || others.length > 0 || !(bits <= width) || (family === 6 && address.includes('.'))) {
				return false;
			}

			if (family === 4) {
				const size = 2 ** (32 - bits);
				const from = Math.floor(ipv4Number(address) / size) * size;
				ipv4.add(from, from + size - 1);
			} else {
				const rest = BigInt(Math.max(0, 64 - bits));
				const from = (ipv6Number(address) >> rest) << rest;
				ipv6.add(from, from | ((1n << rest) - 1n));
			}

			return true;
		},
		sorted: async () => ({ipv4: await ipv4.sorted(), ipv6: await ipv6.sorted()}),
	};
};

/** Read at once, before others have their turn: a few hundred lines, a millisecond or two. */
const TURN_BYTES = 16 * 1024;

export const noRelayRanges: RelayRanges = {has: () => false, refresh: async () => {}};

/** The ranges of a file, which the jobs read after the first pages, and again when it has changed. */
export const createRelayRanges = (file: string, log: Pick<Logger, 'info' | 'warn'>): RelayRanges => {
	let ranges: {ipv4: Ranges<number>; ipv6: Ranges<bigint>} | null = null;
	let readAt: number | null = null;

	const read = async (): Promise<void> => {
		const prefixes = collectPrefixes();
		let bad = 0;
		const take = (line: string): void => {
			const prefix = line.slice(0, Math.max(0, line.indexOf(','))) || line.trim();
			bad += prefix === '' || prefixes.add(prefix) ? 0 : 1;
		};
		let rest = '';
		for await (const chunk of createReadStream(file, {encoding: 'latin1', highWaterMark: TURN_BYTES})) {
			const lines = `${rest}${chunk}`.split('\n');
			rest = lines.pop() ?? '';
			lines.forEach(take);
		}

		take(rest);
		ranges = await prefixes.sorted();
		log.info({ranges: ranges.ipv4.count + ranges.ipv6.count}, 'read the ranges of iCloud Private Relay');
		if (bad > 0) {
			log.warn({lines: bad}, 'RELAY_RANGES_FILE has lines without a valid prefix; they are ignored');
		}
	};

	return {
		has: (ip) => {
			if (ranges === null) {
				return false;
			}

			const plain = plainOf(ip);
			return plain.includes(':') ? ranges.ipv6.has(ipv6Number(plain)) : ranges.ipv4.has(ipv4Number(plain));
		},
		refresh: async () => {
			const {mtimeMs} = await stat(file);
			if (mtimeMs !== readAt) {
				await read();
				readAt = mtimeMs;
			}
		},
	};
};
