import {randomUUID} from 'node:crypto';
import type {Db} from '../db/db.ts';
import {billingBusy} from '../errors.ts';
import type {Services} from '../services.ts';

/** Longer than any operation with its calls to a gateway; after it a holder that was killed blocks nobody. */
const LEASE_SECONDS = 60;

const take = async (db: Db, organizationId: string, holder: string, now: Date): Promise<boolean> => {
	const {rowCount} = await db.raw<{rowCount: number}>(
		`INSERT INTO billing_leases (organization_id, holder, expires_at) VALUES (:organizationId, :holder, :until)
		ON CONFLICT (organization_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
		WHERE billing_leases.expires_at <= :now`,
		{organizationId, holder, now, until: new Date(now.getTime() + LEASE_SECONDS * 1000)},
	);
	return rowCount > 0;
};

/**
 * Runs a billing operation while no other one of the organization runs. A lease and no lock, because a transaction
 * that is held open while a gateway is asked would keep a connection from everybody else.
 * @throws 409 while another one is under way.
 */
export const withBillingLease = async <T>(
	{db, clock}: Services,
	organizationId: string,
	operation: () => Promise<T>,
): Promise<T> => {
	const holder = randomUUID();
	if (!(await take(db, organizationId, holder, clock.now()))) {
		throw billingBusy();
	}

	try {
		return await operation();
	} finally {
		await db('billing_leases').where({organization_id: organizationId, holder}).delete();
	}
};
