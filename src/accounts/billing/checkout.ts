import type {Currency} from '../../platform/config/plans.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {withLease} from '../../platform/db/lease.ts';
import {alreadySubscribed} from '../../platform/errors.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {applySubscription, billingLease} from './apply-subscription.ts';
import {createAttemptStore} from './attempt-store.ts';
import {type BillingServices, type Checkout, type Gateway, gatewayForCurrency} from './gateway.ts';
import {closeSuperseded, openAttempt, payerOf, recordCheckout} from './new-attempt.ts';
import {requirePlanForSale} from './plan-for-sale.ts';
import {replayUnmatched} from './replay-events.ts';
import {isLive, type Subscription, subscriptionJson} from './subscription.ts';
import {createSubscriptionStore, emptyState, stateOf} from './subscription-store.ts';

/** The result of a checkout or a change of plan (contract/billing 2, contract/billing 3). */
export const checkoutResult = (
	action: 'CHECKOUT' | 'UPGRADED' | 'UPGRADE_CHECKOUT' | 'SCHEDULED_DOWNGRADE' | 'DOWNGRADE_CANCELLED',
	subscription: Subscription,
	gateway: Subscription['gateway'],
	checkout: Checkout | null = null,
) => ({
	action,
	gateway,
	checkoutUrl: checkout?.url ?? null,
	sessionId: checkout?.sessionId ?? null,
	subscription: subscriptionJson(subscription),
});

export type CheckoutSessionResult = ReturnType<typeof checkoutResult>;

type Order = {organization: Organization; by: Caller; plan: string; currency: Currency};

/**
 * Opens a hosted checkout for the full price of a plan, for an organization without a live subscription or with one that
 * ops set. A live row stays; otherwise it becomes INACTIVE until an event of the gateway activates it (contract/billing
 * 6). The caller holds the billing lease. @throws 502; nothing has changed then.
 */
export const openCheckout = async (
	services: BillingServices,
	{organization, by, plan: name, currency}: Order,
): Promise<{checkout: Checkout; gateway: Gateway; subscription: Subscription}> => {
	const {db, clock, config} = services;
	const organizationId = organization.id;
	const plan = requirePlanForSale(config.plans, name, currency);
	const gateway = gatewayForCurrency(services, currency);
	const before = await createSubscriptionStore(db).findOf(organizationId);
	const order = {
		organizationId,
		gateway,
		purpose: 'FIRST',
		plan,
		currency,
		amount: plan.plan.prices[currency],
	} as const;
	const {attempt, checkout} = await openAttempt(services, order, payerOf(organization, before));

	const {subscription, superseded} = await inTransaction(db, async (trx) => {
		const now = clock.now();
		const current = await createSubscriptionStore(trx).lockOf(organizationId);
		const closed = await createAttemptStore(trx).supersedeOpen(organizationId, attempt.id, now);
		const customer = {gatewayCustomerId: checkout.customerId ?? current?.gatewayCustomerId ?? null};
		const state =
			current !== null && isLive(current)
				? {...stateOf(current), ...customer}
				: {...emptyState, ...customer, plan: plan.name, status: 'INACTIVE' as const, gateway: gateway.name};
		const changed = await applySubscription(trx, {organizationId, state, by, now, action: 'CHECKOUT'});
		await recordCheckout(trx, attempt, checkout, {by, now});
		return {subscription: changed, superseded: closed};
	});
	closeSuperseded(services, superseded);
	await replayUnmatched(services, gateway.name, checkout.ref);
	return {checkout, gateway, subscription};
};

/**
 * Opens the first checkout of an organization.
 * @throws 400 for a plan that is not for sale, 409 with a live subscription, 502, 503.
 */
export const startCheckout = async (services: BillingServices, order: Order): Promise<CheckoutSessionResult> => {
	requirePlanForSale(services.config.plans, order.plan, order.currency);
	gatewayForCurrency(services, order.currency);
	return withLease(services, billingLease(order.organization.id), async () => {
		const current = await createSubscriptionStore(services.db).findOf(order.organization.id);
		if (current !== null && isLive(current)) {
			throw alreadySubscribed();
		}

		const {checkout, gateway, subscription} = await openCheckout(services, order);
		return checkoutResult('CHECKOUT', subscription, gateway.name, checkout);
	});
};
