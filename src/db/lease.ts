import {randomUUID} from 'node:crypto';
import {setTimeout as pause} from 'node:timers/promises';
import type {Clock} from '../clock.ts';
import {workUnderWay} from '../errors.ts';
import type {Db} from './db.ts';

/** Longer than any work with its calls to a provider; after it a holder that was killed blocks nobody. */
const LEASE_SECONDS = 60;
/** How long a request waits for its turn. */
const PATIENCE_MS = 20_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

const take = async (db: Db, name: string, holder: string, now: Date): Promise<boolean> => {
	const {rowCount} = await db.raw<{rowCount: number}>(
		`INSERT INTO leases (name, holder, expires_at) VALUES (:name, :holder, :until)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
		WHERE leases.expires_at <= :now`,
		{name, holder, now, until: new Date(now.getTime() + LEASE_SECONDS * 1000)},
	);
	return rowCount > 0;
};

/** What was done is done: a lease that could not be given back ends by itself. */
const giveBack = (db: Db, name: string, holder: string): Promise<unknown> =>
	db('leases')
		.where({name, holder})
		.delete()
		.catch(() => {});

/**
 * Runs `work` while none of the same name runs, in any process; others wait for their turn. A lease and no lock,
 * because a transaction that is held open while a provider is asked would keep a connection from everybody else.
 * @throws 409 where the turn does not come in 20 s.
 */
export const withLease = async <T>(
	{db, clock}: {db: Db; clock: Clock},
	name: string,
	work: () => Promise<T>,
): Promise<T> => {
	const holder = randomUUID();
	const began = performance.now();
	for (let wait = FIRST_PAUSE_MS; !(await take(db, name, holder, clock.now())); wait *= 1.5) {
		if (performance.now() - began > PATIENCE_MS) {
			throw workUnderWay();
		}

		await pause(Math.min(wait, LONGEST_PAUSE_MS));
	}

	try {
		return await work();
	} finally {
		await giveBack(db, name, holder);
	}
};

/** As `withLease`, for work that somebody else does already where the lease is taken: then nothing runs here. */
export const withLeaseIfFree = async (
	{db, clock}: {db: Db; clock: Clock},
	name: string,
	work: () => Promise<void>,
): Promise<void> => {
	const holder = randomUUID();
	if (!(await take(db, name, holder, clock.now()))) {
		return;
	}

	try {
		await work();
	} finally {
		await giveBack(db, name, holder);
	}
};
