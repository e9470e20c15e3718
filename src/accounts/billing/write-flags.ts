import {type Db, inTransaction} from '../../platform/db/db.ts';
import {noSubscription, required} from '../../platform/errors.ts';
import type {Caller} from '../audit/audit-log.ts';
import {applySubscription} from './apply-subscription.ts';
import type {BillingServices} from './gateway.ts';
import {hasValues, isLive, type Subscription} from './subscription.ts';
import {createSubscriptionStore, type SubscriptionState, stateOf} from './subscription-store.ts';

const liveOnly = (subscription: Subscription | null): Subscription =>
	required(subscription !== null && isLive(subscription) ? subscription : null, noSubscription);

/** A live subscription of any gateway. @throws 409. */
export const requireLive = async ({db}: {db: Db}, organizationId: string): Promise<Subscription> =>
	liveOnly(await createSubscriptionStore(db).findOf(organizationId));

type Flags = Partial<Pick<SubscriptionState, 'cancelAtPeriodEnd' | 'scheduledPlan' | 'currentPeriodEnd'>>;
type Writer = {by: Caller; action: string; now: Date};

/** Writes flags of a live row that the caller has locked; unchanged flags write no audit record. */
export const applyFlags = async (
	trx: Db,
	row: Subscription,
	flags: Flags,
	{by, action, now}: Writer,
): Promise<Subscription> =>
	hasValues(row, flags)
		? row
		: applySubscription(trx, {
				organizationId: row.organizationId,
				state: {...stateOf(row), ...flags},
				by,
				now,
				action,
			});

/** Writes flags of a live row, all that a route may change: only events entitle. @throws 409 if it has ended. */
export const writeFlags = (
	{db, clock}: Pick<BillingServices, 'db' | 'clock'>,
	{organizationId, by, action}: {organizationId: string; by: Caller; action: string},
	flags: Flags,
): Promise<Subscription> =>
	inTransaction(db, async (trx) => {
		const current = liveOnly(await createSubscriptionStore(trx).lockOf(organizationId));
		return applyFlags(trx, current, flags, {by, action, now: clock.now()});
	});
