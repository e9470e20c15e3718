import {createHmac, randomBytes} from 'node:crypto';
import ipaddr from 'ipaddr.js';
import {isConnectionFault} from '../../platform/connection-fault.ts';
import type {Db} from '../../platform/db/db.ts';

/** Keyed hashes of a request's network. The address itself is not stored (contract/match 16). */
export type NetworkKeys = {
	/** The IPv4 address, or the /64 of an IPv6 address: a household or a phone, whose lower half changes daily. */
	ipKey: Buffer;
	/** The /24 or /56 around it. Of an address of iCloud Private Relay the same as `ipKey`: it has no neighbours. */
	netKey: Buffer;
};

/** Network keys in hexadecimal. */
export type NetworkKeyTexts = {ipKey: string; netKey: string};

/** Hexadecimal digits of a key: 128 bits, enough to exclude collisions. */
const KEY_DIGITS = 32;

const keyed = (pepper: Buffer, text: string): string =>
	createHmac('sha256', pepper).update(text).digest('hex').slice(0, KEY_DIGITS);

/** The network of an address: IPv4 whole or its /24, IPv6 its first `bits`. */
const networkOf = (ip: string, bits: 48 | 56 | 64): string => {
	if (!ip.includes(':')) {
		return bits === 64 ? ip : ip.slice(0, ip.lastIndexOf('.') + 1);
	}

	const address = ipaddr.process(ip);
	return address.kind() === 'ipv4'
		? networkOf(address.toString(), bits)
		: `${Buffer.from(address.toByteArray())
				.toString('hex')
				.slice(0, bits / 4)}:`;
};

/** @param ip the caller's address as `clientIp` gives it. @param isRelay whether it is one of iCloud Private Relay. */
export const networkKeyTextsOf = (pepper: Buffer, ip: string, isRelay: boolean): NetworkKeyTexts => {
	const ipKey = keyed(pepper, networkOf(ip, 64));
	return {ipKey, netKey: isRelay ? ipKey : keyed(pepper, networkOf(ip, 56))};
};

/** Whether a click came through iCloud Private Relay. */
export const isOfRelay = ({ipKey, netKey}: {ipKey: Buffer | null; netKey: Buffer | null}): boolean =>
	ipKey !== null && netKey !== null && ipKey.equals(netKey);

/** @param ip, isRelay as above. */
export const networkKeysOf = (pepper: Buffer, ip: string, isRelay: boolean): NetworkKeys => {
	const {ipKey, netKey} = networkKeyTextsOf(pepper, ip, isRelay);
	return {ipKey: Buffer.from(ipKey, 'hex'), netKey: Buffer.from(netKey, 'hex')};
};

/** The network of a sender of reports: the /24 of an IPv4 address, the /48 of an IPv6 one. */
export const reportNetworkOf = (pepper: Buffer, ip: string): Buffer =>
	Buffer.from(keyed(pepper, `report ${networkOf(ip, 48)}`), 'hex');

type AskingDevice = {deviceId: string | null; ip: string; traits: readonly unknown[]};

/**
 * The key that identifies a device on repeated requests. Without a device id it is derived from the address and the
 * device's properties, which equal phones on one network share (contract/match 7).
 */
export const deviceKeyOf = (pepper: Buffer, {deviceId, ip, traits}: AskingDevice): Buffer =>
	createHmac('sha256', pepper)
		.update(deviceId === null ? `a:${JSON.stringify([networkOf(ip, 64), traits])}` : `d:${deviceId}`)
		.digest();

/** The secrets with which addresses and device ids are hashed: this week's, and last week's if there was one. */
type Peppers = [current: Buffer, ...previous: Buffer[]];

/**
 * Returns the peppers of a time, from memory if the week was requested before. If the database is unavailable when a week
 * begins, those of the last week stay in use, which the week's own look-ups find.
 */
type MatchPeppers = {at(now: Date): Peppers | Promise<Peppers>};

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** Whole weeks since 1970: the key of a pepper. */
export const weekOf = (now: Date): number => Math.floor(now.getTime() / WEEK_MS);

type Row = {week: number; secret: Buffer};

const readRows = (db: Db, week: number): Promise<Row[]> =>
	db<Row>('match_peppers')
		.whereIn('week', [week, week - 1])
		.orderBy('week', 'desc');

const load = async (db: Db, week: number): Promise<Peppers> => {
	const secret = randomBytes(32);
	let rows = await readRows(db, week);
	// Written only if there is none: on a read-only database pages are still answered.
	if (rows[0]?.week !== week) {
		await db('match_peppers').insert({week, secret}).onConflict('week').ignore();
		// In a statement of its own, which sees the row of a faster process.
		rows = await readRows(db, week);
	}

	const [current, ...previous] = rows.map((row) => row.secret);
	return [current ?? secret, ...previous];
};

export const createMatchPeppers = (db: Db): MatchPeppers => {
	let cached: {week: number; peppers: Promise<Peppers>} | null = null;
	let loaded: {week: number; peppers: Peppers} | null = null;
	return {
		at: (now) => {
			const week = weekOf(now);
			if (loaded?.week === week) {
				return loaded.peppers;
			}

			if (cached?.week === week) {
				return cached.peppers;
			}

			const reading = load(db, week);
			const loading = {
				week,
				peppers: reading.catch((error: unknown) => {
					if (loaded !== null && isConnectionFault(error)) {
						return loaded.peppers;
					}

					throw error;
				}),
			};
			cached = loading;
			reading.then(
				(peppers) => {
					loaded = {week, peppers};
				},
				() => {
					// A failure is this caller's; the next caller retries.
					cached = cached === loading ? null : cached;
				},
			);
			return loading.peppers;
		},
	};
};

/**
 * The peppers of a dry run. Missing ones are made in memory: inserted in its transaction, they would block visits, and
 * runs that need them before their click would deadlock with runs that need them after.
 */
export const createDryPeppers = (db: Db): MatchPeppers => {
	// For the whole run: a visit may store another one meanwhile.
	const used = new Map<number, Buffer>();
	return {
		at: async (now) => {
			const week = weekOf(now);
			const stored = new Map((await readRows(db, week)).map((row) => [row.week, row.secret]));
			const current = used.get(week) ?? stored.get(week) ?? randomBytes(32);
			used.set(week, current);
			const previous = used.get(week - 1) ?? stored.get(week - 1);
			return previous === undefined ? [current] : [current, previous];
		},
	};
};

/** Deletes the peppers that no look-up needs any more. Their hashes can then not be reversed. */
export const deleteOldPeppers = async (db: Db, now: Date): Promise<void> => {
	await db('match_peppers')
		.where('week', '<', weekOf(now) - 1)
		.delete();
};
