import {readFileSync, statSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {LRUCache} from 'lru-cache';
import {type CountryResponse, Reader} from 'mmdb-lib';
import type {Logger} from 'pino';
import {plainIp} from './client-ip.ts';
import {fieldsOf} from './http/untrusted-json.ts';
import {createRereadFile, stampOf} from './reread-file.ts';

/** Maximum decoded entries that are kept: a country has few. */
const KNOWN_ENTRIES = 2000;

const isCode = (value: unknown): value is string => typeof value === 'string' && /^[A-Z]{2}$/.test(value);

/** The country of an entry: of MaxMind's and DB-IP's forms, then of IPinfo's, whose `country` is a code or a name. */
const codeIn = (entry: unknown): string | null => {
	const {country, country_code, registered_country} = fieldsOf(entry);
	const codes = [fieldsOf(country)['iso_code'], country_code, country, fieldsOf(registered_country)['iso_code']];
	return codes.find(isCode) ?? null;
};

const DAMAGED = 'damaged';

type Countries = Reader<CountryResponse>;

/** Samples of the address space, and the networks read from each: enough to find the only network of a file. */
const PLACES = 16n;
const FAMILIES = [
	{version: 4, first: 0n, bits: 32, networks: 64},
	// 2000::/3 is the assigned space.
	{version: 6, first: 1n << 125n, bits: 125, networks: 128},
] as const;

const addressOf = (value: bigint, version: 4 | 6): string =>
	version === 4
		? [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
		: value
				.toString(16)
				.padStart(32, '0')
				.replace(/(.{4})(?=.)/g, '$1:');

/** Entries from all parts of the file. */
function* someEntries(reader: Countries): Generator<unknown> {
	for (const {version, first, bits, networks} of FAMILIES.filter(({version}) => version <= reader.metadata.ipVersion)) {
		const end = first + (1n << BigInt(bits));
		for (let place = 0n; place < PLACES; place += 1n) {
			let at = first + ((end - first) / PLACES) * place;
			for (let left = networks as number; left > 0 && at < end; left -= 1) {
				const [entry, length] = reader.getWithPrefixLength(addressOf(at, version));
				yield entry;
				const rest = BigInt((version === 4 ? 32 : 128) - length);
				at = ((at >> rest) + 1n) << rest;
			}
		}
	}
}

/** @throws for a file in another format, a damaged one, and one without countries. */
const readerOf = (file: Buffer): Countries => {
	const reader: Countries = new Reader(file, {cache: new LRUCache<string | number, object>({max: KNOWN_ENTRIES})});
	// Reads every sample, because a damaged one must be found.
	if ([...someEntries(reader)].every((entry) => codeIn(entry) === null)) {
		throw new Error(
			`its entries (${reader.metadata.databaseType}) have neither country.iso_code nor country_code: use a file of countries`,
		);
	}

	return reader;
};

/** The fault of a file; null if it can be used. */
export const geoipFault = (file: string): string | null => {
	try {
		readerOf(readFileSync(file));
		return null;
	} catch (error) {
		return (error as Error).message;
	}
};

/**
 * The countries of addresses, from an MMDB file (GEOIP_FILE). It is read before the first page, and again when it has
 * changed. The address is looked up and not stored.
 * @param file null: no country is known. @throws if it cannot be used.
 */
export const createCountries = (file: string | null, log: Pick<Logger, 'info' | 'warn'>) => {
	let damaged: Countries | null = null;
	const use = (bytes: Buffer): Countries => {
		const reader = readerOf(bytes);
		const {buildEpoch, databaseType} = reader.metadata;
		log.info({built: buildEpoch, type: databaseType}, 'read the countries of GEOIP_FILE');
		return reader;
	};
	const readFirst = (name: string) => {
		const stamp = stampOf(statSync(name));
		return {contents: use(readFileSync(name)), stamp};
	};
	const load = async (name: string) => use(await readFile(name));
	const current =
		file === null ? null : createRereadFile({variable: 'GEOIP_FILE', file, load, log, first: readFirst(file)});

	return {
		/** ISO 3166. @param ip the caller's address as `clientIp` gives it. */
		of: (ip: string): string | null => {
			const reader = current?.contents() ?? null;
			if (reader === null) {
				return null;
			}

			try {
				return codeIn(reader.get(plainIp(ip)));
			} catch (error) {
				// The visit is answered, and counted without a country.
				if (damaged !== reader) {
					log.warn({err: error}, `GEOIP_FILE is ${DAMAGED}: replace it`);
					damaged = reader;
				}

				return null;
			}
		},
		/** When the file was built; null without one. */
		built: (): Date | null => current?.contents()?.metadata.buildEpoch ?? null,
		/** Why the file as it is now cannot be used, or has been found damaged; null without a fault. */
		fault: (): string | null =>
			current?.fault() ?? (damaged !== null && damaged === current?.contents() ? DAMAGED : null),
		/** Reads the file if it has changed since. */
		refresh: async (): Promise<void> => current?.refresh(),
	};
};
