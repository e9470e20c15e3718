import {readFileSync, statSync} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {LRUCache} from 'lru-cache';
import {type CountryResponse, Reader} from 'mmdb-lib';
import type {Logger} from 'pino';
import {plainIp} from './plain-ip.ts';

/** Decoded entries, by where they are in the file: a country has few. */
const KNOWN_ENTRIES = 2000;

/** @throws for a file in another format. */
const readerOf = (file: Buffer): Reader<CountryResponse> =>
	new Reader(file, {cache: new LRUCache<string | number, object>({max: KNOWN_ENTRIES})});

/** Why a file cannot be used, or null. */
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
 * @param file null: no country is known. @throws if it cannot be read.
 */
export const createCountries = (file: string | null, log: Pick<Logger, 'info' | 'warn'>) => {
	let reader: Reader<CountryResponse> | null = null;
	let readAt: number | null = null;

	const use = (bytes: Buffer, mtimeMs: number): void => {
		// A broken file is not read again before it changes.
		readAt = mtimeMs;
		reader = readerOf(bytes);
		const {buildEpoch, databaseType} = reader.metadata;
		log.info({built: buildEpoch, type: databaseType}, 'read the countries of GEOIP_FILE');
	};

	if (file !== null) {
		use(readFileSync(file), statSync(file).mtimeMs);
	}

	return {
		/** ISO 3166. @param ip the caller's address as `clientIp` gives it. */
		of: (ip: string): string | null => {
			const entry = reader?.get(plainIp(ip)) ?? null;
			return entry?.country?.iso_code ?? entry?.registered_country?.iso_code ?? null;
		},
		/** When the file was built; null without one. */
		built: (): Date | null => reader?.metadata.buildEpoch ?? null,
		/** Reads the file if it has changed since; the countries stay if it cannot be used. */
		refresh: async (): Promise<void> => {
			if (file === null) {
				return;
			}

			try {
				const {mtimeMs} = await stat(file);
				if (mtimeMs !== readAt) {
					use(await readFile(file), mtimeMs);
				}
			} catch (error) {
				log.warn({err: error}, 'GEOIP_FILE could not be read; the countries of before stay in use');
			}
		},
	};
};
