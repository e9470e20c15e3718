import {randomUUID} from 'node:crypto';
import {setTimeout as pause} from 'node:timers/promises';
import type {Clock} from '../clock.ts';
import {workUnderWay} from '../errors.ts';
import {Loop} from '../loop.ts';
import type {Db} from './db.ts';
import {execute, sql} from './sql.ts';

/** The lease of a killed holder ends after this time; a live one renews its lease before. */
const LEASE_SECONDS = 60;
const RENEWAL_MS = 20_000;
/** A lease that ends later than clocks may differ was taken before the clock was set back, and is ignored. */
const SKEW_SECONDS = 300;
/** How long a caller waits for the lease. */
const TIMEOUT_MS = 20_000;
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 250;

type Lease = {db: Db; clock: Clock; name: string; holder: string};

const endOf = (clock: Clock, more = 0): Date => new Date(clock.now().getTime() + (LEASE_SECONDS + more) * 1000);

const take = async ({db, clock, name, holder}: Lease): Promise<boolean> => {
	const taken = await execute(
		db,
		sql`INSERT INTO leases (name, holder, expires_at) VALUES (${name}, ${holder}, ${endOf(clock)})
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
		WHERE leases.expires_at <= ${clock.now()} OR leases.expires_at > ${endOf(clock, SKEW_SECONDS)}`,
	);
	return taken > 0;
};

/** Runs the holder's work and renews the lease meanwhile, because a provider may be slow repeatedly. */
const hold = async <T>({db, clock, name, holder}: Lease, work: () => Promise<T>): Promise<T> => {
	const row = () => db('leases').where({name, holder});
	const renewal = new Loop(async () => {
		await row()
			.update({expires_at: endOf(clock)})
			.catch(() => {});
		return RENEWAL_MS;
	});
	renewal.wake(RENEWAL_MS);
	try {
		return await work();
	} finally {
		await renewal.stop();
		// A lease that could not be released expires.
		await row()
			.delete()
			.catch(() => {});
	}
};

/**
 * Runs `work` while no other work of the same name runs in any process; others wait. It is a lease and not a lock, because
 * a transaction that is open during a provider's request would occupy a connection.
 * @throws 409 after waiting for 20 s.
 */
export const withLease = async <T>(
	{db, clock}: {db: Db; clock: Clock},
	name: string,
	work: () => Promise<T>,
): Promise<T> => {
	const lease = {db, clock, name, holder: randomUUID()};
	const began = performance.now();
	for (let wait = FIRST_PAUSE_MS; !(await take(lease)); wait *= 1.5) {
		if (performance.now() - began > TIMEOUT_MS) {
			throw workUnderWay();
		}

		await pause(Math.min(wait, MAX_PAUSE_MS));
	}

	return hold(lease, work);
};

/** As `withLease`, but runs nothing if the lease is taken, because another process does the work. */
export const withLeaseIfFree = async (
	{db, clock}: {db: Db; clock: Clock},
	name: string,
	work: () => Promise<void>,
): Promise<void> => {
	const lease = {db, clock, name, holder: randomUUID()};
	if (await take(lease)) {
		await hold(lease, work);
	}
};
