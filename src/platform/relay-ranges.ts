import {createReadStream, readFileSync} from 'node:fs';
import {isIP} from 'node:net';
import {setImmediate as turn} from 'node:timers/promises';
import type {Logger} from 'pino';
import {plainIp} from './client-ip.ts';
import {createRereadFile} from './reread-file.ts';

/** How many of the ascending numbers are less than `value`, or with `orEqual` at most `value`. */
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

/** The first and the last number of each range, each list for itself. Ranges may overlap. */
type Ranges<N> = {firsts: ArrayLike<N>; lasts: ArrayLike<N>};

/** Whether more ranges have begun up to a number than have ended before it. */
const isIn = <N extends number | bigint>({firsts, lasts}: Ranges<N>, value: N): boolean =>
	countBelow(firsts, value, true) > countBelow(lasts, value, false);

/** Sorted by the engine itself, which takes a tenth of a comparison in our code. */
const sorted = async <A extends Uint32Array | BigUint64Array>(firsts: A, lasts: A): Promise<{firsts: A; lasts: A}> => {
	for (const numbers of [firsts, lasts]) {
		numbers.sort();
		await turn();
	}

	return {firsts, lasts};
};

const ipv4Number = (ip: string): number => ip.split('.').reduce((number, part) => number * 256 + Number(part), 0);

/** The first 64 bits: the lower half of an IPv6 address differs within one household. */
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

/** Collects the prefixes of lines `prefix,country,region,city,`. */
const collectPrefixes = () => {
	const ipv4 = {firsts: [] as number[], lasts: [] as number[]};
	const ipv6 = {firsts: [] as bigint[], lasts: [] as bigint[]};
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
				ipv4.firsts.push(from);
				ipv4.lasts.push(from + size - 1);
			} else {
				const rest = BigInt(Math.max(0, 64 - bits));
				const from = (ipv6Number(address) >> rest) << rest;
				ipv6.firsts.push(from);
				ipv6.lasts.push(from | ((1n << rest) - 1n));
			}

			return true;
		},
		sorted: async () => ({
			ipv4: await sorted(Uint32Array.from(ipv4.firsts), Uint32Array.from(ipv4.lasts)),
			ipv6: await sorted(BigUint64Array.from(ipv6.firsts), BigUint64Array.from(ipv6.lasts)),
		}),
	};
};

/** The prefix of a line. */
const prefixIn = (line: string): string => line.slice(0, Math.max(0, line.indexOf(','))) || line.trim();

const NO_RANGES = 'none of its lines begins with a range of addresses';

/** A byte order mark, byte by byte. */
const BOM = /^\u00ef\u00bb\u00bf/;

/** The fault of a file; null if it can be used. Reads until the first range. */
export const relayRangesFault = (file: string): string | null => {
	try {
		const text = readFileSync(file, 'latin1').replace(BOM, '');
		const prefixes = collectPrefixes();
		for (let from = 0, to = 0; from < text.length; from = to + 1) {
			to = (text.indexOf('\n', from) + 1 || text.length + 1) - 1;
			if (prefixes.add(prefixIn(text.slice(from, to)))) {
				return null;
			}
		}

		return NO_RANGES;
	} catch (error) {
		return (error as Error).message;
	}
};

/** Read at once, before others have their turn: a few hundred lines, a millisecond or two. */
const TURN_BYTES = 16 * 1024;

/**
 * The addresses of iCloud Private Relay, which many people share (contract/match 18), from a file, which the jobs read
 * after the first pages, and again when it has changed.
 * @param file null: no address is one of the relay.
 */
export const createRelayRanges = (file: string | null, log: Pick<Logger, 'info' | 'warn'>) => {
	const load = async (name: string) => {
		const prefixes = collectPrefixes();
		let bad = 0;
		const take = (line: string): void => {
			const prefix = prefixIn(line);
			bad += prefix === '' || prefixes.add(prefix) ? 0 : 1;
		};
		let rest: string | null = null;
		for await (const chunk of createReadStream(name, {encoding: 'latin1', highWaterMark: TURN_BYTES})) {
			const lines: string[] = (rest === null ? String(chunk).replace(BOM, '') : `${rest}${chunk}`).split('\n');
			rest = lines.pop() ?? '';
			lines.forEach(take);
		}

		take(rest ?? '');
		const ranges = await prefixes.sorted();
		const count = ranges.ipv4.firsts.length + ranges.ipv6.firsts.length;
		if (count === 0) {
			throw new Error(NO_RANGES);
		}

		log.info({ranges: count}, 'read the ranges of iCloud Private Relay');
		if (bad > 0) {
			log.warn({lines: bad}, 'RELAY_RANGES_FILE has lines without a valid prefix; they are ignored');
		}

		return ranges;
	};
	const current = file === null ? null : createRereadFile({variable: 'RELAY_RANGES_FILE', file, load, log});

	return {
		/** @param ip the caller's address as `clientIp` gives it. Until the file is read, none is known. */
		has: (ip: string): boolean => {
			const ranges = current?.contents() ?? null;
			if (ranges === null) {
				return false;
			}

			const plain = plainIp(ip);
			return plain.includes(':') ? isIn(ranges.ipv6, ipv6Number(plain)) : isIn(ranges.ipv4, ipv4Number(plain));
		},
		/** The fault of the file as it is now; null if it can be used. */
		fault: (): string | null => current?.fault() ?? null,
		/** Reads the file if it has changed since. */
		refresh: async (): Promise<void> => current?.refresh(),
	};
};
