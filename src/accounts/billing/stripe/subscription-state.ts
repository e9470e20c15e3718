import type {Db} from '../../../platform/db/db.ts';
import {type Caller, systemCaller} from '../../audit/audit-log.ts';
import {FALLBACK_PLAN} from '../apply-subscription.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import type {BillingServices} from '../gateway.ts';
import type {SubscriptionState} from '../subscription-store.ts';
import type {RemoteSubscription} from './read-subscription.ts';

/** The receiver, in audit records. */
export const byStripe: Caller = {actor: {...systemCaller.actor, name: 'Stripe'}, requestId: null};

/** The dependencies of projecting a subscription, in the transaction that records the event. */
export type Projection = {
	services: Pick<BillingServices, 'config' | 'log'>;
	trx: Db;
	organizationId: string;
	now: Date;
	/** Takes the checkouts that an activation superseded, to be closed at the gateway afterwards. */
	superseded: BillingAttempt[];
};

/** The row's new state: Stripe's current one, not that of the event. */
export const stateFrom = (
	remote: RemoteSubscription,
	{plan, scheduledPlan, pastDueAt}: {plan: string; scheduledPlan: string | null; pastDueAt: Date | null},
	now: Date,
): Omit<SubscriptionState, 'anchorAt'> => {
	const ends = remote.status !== 'CANCELED' && remote.cancelAtPeriodEnd;
	// At Stripe a downgrade to the free plan is a cancellation; only the row distinguishes them.
	const ending = scheduledPlan === FALLBACK_PLAN ? FALLBACK_PLAN : null;
	const scheduled = remote.scheduledPlan === undefined ? scheduledPlan : remote.scheduledPlan;
	const next = remote.status === 'CANCELED' || scheduled === plan ? null : scheduled;
	return {
		plan,
		status: remote.status,
		gateway: 'GATEWAY_A',
		gatewaySubscriptionId: remote.id,
		gatewayCustomerId: remote.customerId,
		currentPeriodStart: remote.currentPeriodStart,
		currentPeriodEnd: remote.currentPeriodEnd,
		cancelAtPeriodEnd: ends,
		scheduledPlan: ends ? ending : next,
		pastDueAt: remote.status === 'PAST_DUE' ? (pastDueAt ?? now) : null,
	};
};
