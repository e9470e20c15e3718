import {FREE_PLAN} from '../../platform/config/plans.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {noSubscription, required} from '../../platform/errors.ts';
import type {Caller} from '../audit/audit-log.ts';
import {applySubscription} from './apply-subscription.ts';
import type {BillingServices, Gateway} from './gateway.ts';
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

/** Restores at the gateway the change that the row has scheduled for the end of the period. */
const restore = async (gateway: Gateway, subscription: Subscription): Promise<void> => {
	const {cancelAtPeriodEnd, scheduledPlan} = subscription;
	if (cancelAtPeriodEnd) {
		await gateway.setCancelAtPeriodEnd(subscription, true);
	} else if (scheduledPlan !== null && scheduledPlan !== FREE_PLAN) {
		await gateway.scheduleDowngrade(subscription, scheduledPlan);
	}
};

/**
 * Runs calls to a gateway that first undo a scheduled downgrade or a cancellation. If they fail, it restores that,
 * best effort: after a failed upgrade a canceled customer must not keep paying.
 * @throws the calls' error, 502.
 */
export const replacePending = async <T>(
	{log}: Pick<BillingServices, 'log'>,
	gateway: Gateway,
	subscription: Subscription,
	calls: () => Promise<T>,
): Promise<T> => {
	try {
		return await calls();
	} catch (error) {
		await restore(gateway, subscription).catch((failure: unknown) =>
			log.error(
				{err: failure, organizationId: subscription.organizationId},
				'a change scheduled for the end of the period may be lost at the gateway',
			),
		);
		throw error;
	}
};
