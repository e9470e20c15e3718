import {type Actor, type Caller, systemCaller} from '../../audit/audit-log.ts';
import type {Db} from '../../db/db.ts';
import type {Services} from '../../services.ts';
import {FALLBACK_PLAN} from '../apply-subscription.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import type {SubscriptionState} from '../subscription-store.ts';
import type {RemoteSubscription} from './read-subscription.ts';

const actor: Actor = {...systemCaller.actor, name: 'Gateway A'};

/** On whose behalf the receiver writes. */
export const byGateway: Caller = {actor, requestId: null};

/** What a subscription is written with: the transaction that notes the event. */
export type Place = {
	services: Services;
	trx: Db;
	organizationId: string;
	now: Date;
	/** Takes what an activation superseded, to be closed at the gateway afterwards. */
	superseded: BillingAttempt[];
};

/** What is written of a subscription: what the gateway says, whatever event made us ask. */
export const stateFrom = (
	remote: RemoteSubscription,
	{plan, scheduledPlan, pastDueAt}: {plan: string; scheduledPlan: string | null; pastDueAt: Date | null},
	now: Date,
): Omit<SubscriptionState, 'anchorAt'> => {
	const ends = remote.status !== 'CANCELED' && remote.cancelAtPeriodEnd;
	// A downgrade to nothing is a cancellation at the gateway, so that only the row tells them apart.
	const ending = scheduledPlan === FALLBACK_PLAN ? FALLBACK_PLAN : null;
	const told = remote.scheduledPlan === undefined ? scheduledPlan : remote.scheduledPlan;
	const next = remote.status === 'CANCELED' || told === plan ? null : told;
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
