import {randomUUID} from 'node:crypto';
import {setTimeout as pause} from 'node:timers/promises';
import type {Clock} from '../clock.ts';
import {workUnderWay} from '../errors.ts';
import type {Db} from './db.ts';

/** A holder that was killed blocks nobody after it; one that works on renews its lease before. */
const LEASE_SECONDS = 60;
const RENEWAL_MS = 20_000;
/** A lease that ends later than clocks differ was taken by one that was set back since, and binds nobody. */
const SKEW_SECONDS = 300;
/** How long a request waits for its turn. */
const PATIENCE_MS = 20_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

type Held = {db: Db; clock: Clock; name: string; holder: string};

const endOf = (clock: Clock, more = 0): Date => new Date(clock.now().getTime() + (LEASE_SECONDS + more) * 1000);

const take = async ({db, clock, name, holder}: Held): Promise<boolean> => {
	const {rowCount} = await db.raw<{rowCount: number}>(
		`INSERT INTO leases (name, holder, expires_at) VALUES (:name, :holder, :until)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
		WHERE leases.expires_at <= :now OR leases.expires_at > :never`,
		{name, holder, now: clock.now(), until: endOf(clock), never: endOf(clock, SKEW_SECONDS)},
	);
	return rowCount > 0;
};

/** Runs the holder's work. The lease is renewed for as long as that takes, because a provider may be slow many times. */
const hold = async <T>({db, clock, name, holder}: Held, work: () => Promise<T>): Promise<T> => {
	const own = () => db('leases').where({name, holder});
	const renewal = setInterval(() => {
		own()
			.update({expires_at: endOf(clock)})
			.catch(() => {});
	}, RENEWAL_MS).unref();
	try {
		return await work();
	} finally {
		clearInterval(renewal);
		// What was done is done: a lease that could not be given back ends by itself.
		await own()
			.delete()
			.catch(() => {});
	}
};

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
	const held = {db, clock, name, holder: randomUUID()};
	const began = performance.now();
	for (let wait = FIRST_PAUSE_MS; !(await take(held)); wait *= 1.5) {
		if (performance.now() - began > PATIENCE_MS) {
			throw workUnderWay();
		}

		await pause(Math.min(wait, LONGEST_PAUSE_MS));
	}

	return hold(held, work);
};

/** As `withLease`, for work that somebody else does already where the lease is taken: then nothing runs here. */
export const withLeaseIfFree = async (
	{db, clock}: {db: Db; clock: Clock},
	name: string,
	work: () => Promise<void>,
): Promise<void> => {
	const held = {db, clock, name, holder: randomUUID()};
	if (await take(held)) {
		await hold(held, work);
	}
};
