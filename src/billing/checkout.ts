import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {type Db, inTransaction} from '../db/db.ts';
import {withLease} from '../db/lease.ts';
import {alreadySubscribed, planNotForSale, unknownPlan, workUnderWay} from '../errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {type Currency, type Plan, type Plans, planNamed} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {applySubscription, FALLBACK_PLAN} from './apply-subscription.ts';
import {type AttemptPurpose, type BillingAttempt, createAttemptStore} from './attempt-store.ts';
import type {Checkout, Gateway, GatewayName, Payer} from './gateway.ts';
import {gatewayForCurrency} from './gateways.ts';
import {isLive, type Subscription, subscriptionJson} from './subscription.ts';
import {createSubscriptionStore, stateOf} from './subscription-store.ts';
import {reprocessUnmatched} from './unmatched-events.ts';

/** What a checkout or a change of plan came to (interface 4.5, decisions 9). */
export type CheckoutAction =
	| 'CHECKOUT'
	| 'UPGRADED'
	| 'UPGRADE_CHECKOUT'
	| 'SCHEDULED_DOWNGRADE'
	| 'DOWNGRADE_CANCELLED';
export type CheckoutSessionResult = {
	action: CheckoutAction;
	gateway: GatewayName | 'MANUAL';
	checkoutUrl: string | null;
	sessionId: string | null;
	subscription: ReturnType<typeof subscriptionJson>;
};

export const checkoutResult = (
	action: CheckoutAction,
	subscription: Subscription,
	{gateway, checkout}: {gateway: CheckoutSessionResult['gateway']; checkout: Checkout | null},
): CheckoutSessionResult => ({
	action,
	gateway,
	checkoutUrl: checkout?.url ?? null,
	sessionId: checkout?.sessionId ?? null,
	subscription: subscriptionJson(subscription),
});

/**
 * A plan that is bought by checkout: neither the free one nor one without a price (interface 4.5), in the currency
 * where it is known. @throws 400.
 */
export const requirePlanForSale = (
	plans: Plans,
	name: string,
	currency: Currency | null = null,
): {name: string; plan: Plan} => {
	const known = planNamed(plans, name);
	const plan = known === null ? undefined : plans[known];
	if (known === null || plan === undefined) {
		throw unknownPlan(name);
	}

	const {prices} = plan;
	const price = currency === null ? Math.max(prices.USD, prices.EGP) : prices[currency];
	if (known === FALLBACK_PLAN || price === 0) {
		throw planNotForSale(known);
	}

	return {name: known, plan};
};

export const payerOf = (organization: Organization, subscription: Subscription | null): Payer => ({
	organizationId: organization.id,
	name: organization.name,
	email: organization.contactEmail,
	customerId: subscription?.gatewayCustomerId ?? null,
});

/**
 * Runs a call to a gateway for an attempt. Where it fails, the attempt is closed as FAILED, unless a saved card was
 * charged for it: then nobody knows, and the gateway's word is waited for. Nothing else was changed.
 * @throws what the gateway threw, 502.
 */
export const callForAttempt = async <T>(
	{db, clock, log}: Services,
	attempt: BillingAttempt,
	call: () => Promise<T>,
): Promise<T> => {
	try {
		return await call();
	} catch (error) {
		await createAttemptStore(db)
			.closeUncharged(attempt, {status: 'FAILED', lastError: 'The gateway did not answer'}, clock.now())
			.catch((failure: unknown) => log.error({err: failure, attemptId: attempt.id}, 'an attempt could not be closed'));
		throw error;
	}
};

/** Superseded checkouts are made unusable where the gateway can; one that is paid all the same is dealt with then. */
export const closeSuperseded = (services: Services, attempts: BillingAttempt[]): void => {
	for (const attempt of attempts) {
		const gateway = services.gateways[attempt.gateway];
		if (gateway !== null) {
			services.background.run('close a superseded checkout', gateway.closeCheckout(attempt));
		}
	}
};

/** What is to be paid, and for what. */
export type AttemptOrder = {
	organizationId: string;
	gateway: Gateway;
	purpose: AttemptPurpose;
	plan: {name: string; plan: Plan};
	currency: Currency;
	/** Minor units. */
	amount: number;
	/** The period that it pays, or pays the rest of. */
	periodStart?: Date | null;
	periodEnd?: Date | null;
	retry?: number;
};

export const newAttempt = async (
	db: Db,
	{gateway, plan, ...order}: AttemptOrder,
	now: Date,
): Promise<BillingAttempt> => {
	const priceId = gateway.name === 'GATEWAY_A' ? plan.plan.stripePrice : null;
	const attempt = await createAttemptStore(db).insert({...order, gateway: gateway.name, plan: plan.name, priceId}, now);
	// The same try of the same renewal: the lease keeps them apart, and the index those that come without one.
	if (attempt === null) {
		throw workUnderWay();
	}

	return attempt;
};

/** What keeps two billing operations of an organization apart while a gateway is asked. */
export const billingLease = (organizationId: string): string => `billing:${organizationId}`;

type Order = {organization: Organization; by: Caller; plan: string; currency: Currency};

/**
 * Opens a hosted checkout for the whole price of a plan, for an organization without a live subscription or with one
 * that ops set. The row stays as it is where it is live; otherwise it becomes INACTIVE, for the gateway's word to
 * activate (interface 3). The billing lease is the caller's.
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
