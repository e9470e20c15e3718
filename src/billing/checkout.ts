import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {inTransaction} from '../db/db.ts';
import {withLease} from '../db/lease.ts';
import {alreadySubscribed} from '../errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Currency} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {applySubscription} from './apply-subscription.ts';
import {createAttemptStore} from './attempt-store.ts';
import {billingLease} from './billing-lease.ts';
import {type CheckoutSessionResult, checkoutResult} from './checkout-result.ts';
import type {Checkout, Gateway} from './gateway.ts';
import {gatewayForCurrency} from './gateways.ts';
import {type AttemptOrder, callForAttempt, closeSuperseded, newAttempt, payerOf} from './new-attempt.ts';
import {requirePlanForSale} from './plan-for-sale.ts';
import {isLive, type Subscription} from './subscription.ts';
import {createSubscriptionStore, stateOf} from './subscription-store.ts';
import {reprocessUnmatched} from './unmatched-events.ts';

type Order = {organization: Organization; by: Caller; plan: string; currency: Currency};

/**
 * Opens a hosted checkout for the whole price of a plan, for an organization without a live subscription or with one
 * that ops set. The row stays as it is where it is live; otherwise it becomes INACTIVE, for the gateway's word to
 * activate (contract/billing 6). The billing lease is the caller's.
 * @throws 502; nothing has changed then.
 */
export const openCheckout = async (
	services: Services,
	{organization, by, plan: name, currency}: Order,
): Promise<{checkout: Checkout; gateway: Gateway; subscription: Subscription}> => {
	const {db, clock, config} = services;
	const plan = requirePlanForSale(config.plans, name, currency);
	const gateway = gatewayForCurrency(services, currency);
	const before = await createSubscriptionStore(db).findOf(organization.id);
	const amount = plan.plan.prices[currency];
	const order: AttemptOrder = {organizationId: organization.id, gateway, purpose: 'FIRST', plan, currency, amount};
	const attempt = await newAttempt(db, order, clock.now());
	const checkout = await callForAttempt(services, attempt, () =>
		gateway.openCheckout(attempt, payerOf(organization, before)),
	);

	const {subscription, superseded} = await inTransaction(db, async (trx) => {
		const now = clock.now();
		const attempts = createAttemptStore(trx);
		const current = await createSubscriptionStore(trx).lockOf(organization.id);
		await attempts.update(organization.id, attempt.id, {gatewayRef: checkout.ref, gatewayRef2: checkout.ref2}, now);
		const closed = await attempts.supersedeOpen(organization.id, attempt.id, now);
		const customer = {gatewayCustomerId: checkout.customerId ?? current?.gatewayCustomerId ?? null};
		const state =
			current !== null && isLive(current)
				? {...stateOf(current), ...customer}
				: {
						...customer,
						plan: plan.name,
						status: 'INACTIVE' as const,
						gateway: gateway.name,
						gatewaySubscriptionId: null,
						currentPeriodStart: null,
						currentPeriodEnd: null,
						cancelAtPeriodEnd: false,
						scheduledPlan: null,
						pastDueAt: null,
						anchorAt: null,
					};
		const changed = await applySubscription(trx, {
			organizationId: organization.id,
			state,
			by,
			now,
			action: 'CHECKOUT',
		});
		await recordAudit(trx, now, by, {
			action: 'OPEN',
			entityType: 'BillingAttempt',
			entityId: attempt.id,
			organizationId: organization.id,
			details: {plan: plan.name, currency, amount: attempt.amount, gateway: gateway.name},
		});
		return {subscription: changed, superseded: closed};
	});
	closeSuperseded(services, superseded);
	await reprocessUnmatched(services, gateway.name, checkout.ref);
	return {checkout, gateway, subscription};
};

/**
 * The first checkout of an organization.
 * @throws 400 for a plan that is not for sale, 409 with a live subscription, 502, 503.
 */
export const startCheckout = async (services: Services, order: Order): Promise<CheckoutSessionResult> => {
	requirePlanForSale(services.config.plans, order.plan, order.currency);
	gatewayForCurrency(services, order.currency);
	return withLease(services, billingLease(order.organization.id), async () => {
		const current = await createSubscriptionStore(services.db).findOf(order.organization.id);
		if (current !== null && isLive(current)) {
			throw alreadySubscribed();
		}

		const {checkout, gateway, subscription} = await openCheckout(services, order);
		return checkoutResult('CHECKOUT', subscription, {gateway: gateway.name, checkout});
	});
};
