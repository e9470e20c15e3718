import type {Caller} from '../audit/audit-log.ts';
import {type Db, inTransaction} from '../db/db.ts';
import {noSubscription} from '../errors.ts';
import type {Services} from '../services.ts';
import {applySubscription} from './apply-subscription.ts';
import {isLive, type Subscription, saysTheSame} from './subscription.ts';
import {createSubscriptionStore, type SubscriptionState, stateOf} from './subscription-store.ts';

/** A live subscription, by whatever it is paid. @throws 409. */
export const requireLive = async ({db}: {db: Db}, organizationId: string): Promise<Subscription> => {
	const subscription = await createSubscriptionStore(db).findOf(organizationId);
	if (subscription === null || !isLive(subscription)) {
		throw noSubscription();
	}

	return subscription;
};

export type Flags = Partial<Pick<SubscriptionState, 'cancelAtPeriodEnd' | 'scheduledPlan' | 'currentPeriodEnd'>>;
type Writer = {by: Caller; action: string; now: Date};

/** Writes flags of a live row that the caller has locked; nothing, and no record, where it has them already. */
export const applyFlags = async (
	trx: Db,
	row: Subscription,
	flags: Flags,
	{by, action, now}: Writer,
): Promise<Subscription> =>
	saysTheSame(row, flags)
		? row
		: applySubscription(trx, {
				organizationId: row.organizationId,
				state: {...stateOf(row), ...flags},
				by,
				now,
				action,
			});

/**
 * Writes flags of a live row, which is all that a route may do: what entitles is for the receivers alone. A row that
 * ended meanwhile is left alone. @throws 409.
 */
export const writeFlags = (
	{db, clock}: Pick<Services, 'db' | 'clock'>,
	{organizationId, by, action}: {organizationId: string; by: Caller; action: string},
	flags: Flags,
): Promise<Subscription> =>
	inTransaction(db, async (trx) => {
		const current = await createSubscriptionStore(trx).lockOf(organizationId);
		if (current === null || !isLive(current)) {
			throw noSubscription();
		}

		return applyFlags(trx, current, flags, {by, action, now: clock.now()});
	});
