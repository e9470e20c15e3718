import {randomBytes} from 'node:crypto';
import {isConnectionFault} from '../../platform/connection-fault.ts';
import type {Db} from '../../platform/db/db.ts';

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
