import {FREE_PLAN} from '../../platform/config/plans.ts';
import type {Db} from '../../platform/db/db.ts';
import {type Caller, entriesOf, recordAudit} from '../audit/audit-log.ts';
import {createOrganizationStore} from '../organizations/organization-store.ts';
import {entitledUntil, isLive, type Subscription} from './subscription.ts';
import {createSubscriptionStore, endedState, type SubscriptionState} from './subscription-store.ts';

/** The lease that excludes concurrent billing operations of an organization, also while a gateway is asked. */
export const billingLease = (organizationId: string): string => `billing:${organizationId}`;

type Change = {
	organizationId: string;
	state: Partial<SubscriptionState> & Pick<SubscriptionState, 'plan' | 'status' | 'gateway'>;
	by: Caller;
	now: Date;
	/** The action of the audit record; null if the caller writes a record of its own. */
	action: string | null;
};

/**
 * The one place where a subscription changes: its row, the organization's plan and the end of the entitlement, in the
 * caller's transaction. An ACTIVE or PAST_DUE row sets its plan, CANCELED falls back to STARTER, INACTIVE keeps it.
 */
export const applySubscription = async (
	trx: Db,
	{organizationId, state, by, now, action}: Change,
): Promise<Subscription> => {
	const subscription = await createSubscriptionStore(trx).upsert(organizationId, state, now);
	const {plan, status, gateway, currentPeriodEnd, cancelAtPeriodEnd, scheduledPlan} = subscription;
	await createOrganizationStore(trx).update(
		organizationId,
		{
			...(status === 'INACTIVE' ? {} : {plan: isLive(subscription) ? plan : FREE_PLAN}),
			entitledUntil: entitledUntil(subscription),
		},
		now,
	);
	if (action === null) {
		return subscription;
	}

	const details = {plan, status, gateway, currentPeriodEnd, cancelAtPeriodEnd, scheduledPlan};
	await recordAudit(trx, now, by, entriesOf('Subscription')(action, subscription, details));
	return subscription;
};

/** Ends a subscription, in the caller's transaction with the row locked. */
export const endSubscription = (
	trx: Db,
	row: Subscription,
	{by, now}: {by: Caller; now: Date},
): Promise<Subscription> =>
	applySubscription(trx, {
		organizationId: row.organizationId,
		state: endedState(row),
		by,
		now,
		action: 'END',
	});
