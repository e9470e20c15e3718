import type {Caller} from '../audit/audit-log.ts';
import {inTransaction} from '../db/db.ts';
import {withLease} from '../db/lease.ts';
import {noSubscription, planUnchanged, unknownPlan} from '../errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {type Currency, planNamed} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {applySubscription, FALLBACK_PLAN} from './apply-subscription.ts';
import {createAttemptStore} from './attempt-store.ts';
import {
	billingLease,
	type CheckoutSessionResult,
	callForAttempt,
	checkoutResult,
	closeSuperseded,
	newAttempt,
	openCheckout,
	payerOf,
	requirePlanForSale,
} from './checkout.ts';
import type {Gateway} from './gateway.ts';
import {currencyOf, gatewayOfSubscription} from './gateways.ts';
import {isLive, manualPeriodEnd, proratedDifference, type Subscription} from './subscription.ts';
import {createSubscriptionStore, type SubscriptionState, stateOf} from './subscription-store.ts';
import {reprocessUnmatched} from './unmatched-events.ts';

type Change = {organization: Organization; by: Caller; plan: string; currency: Currency};

/** A live subscription, by whatever it is paid. @throws 409. */
export const requireLive = async ({db}: Services, organizationId: string): Promise<Subscription> => {
	const subscription = await createSubscriptionStore(db).findOf(organizationId);
	if (subscription === null || !isLive(subscription)) {
		throw noSubscription();
	}

	return subscription;
};

/**
 * Writes flags of a live row, which is all that a route may do: what entitles is for the receivers alone. A row that
 * ended meanwhile is left alone. @throws 409.
 */
export const writeFlags = (
	{db, clock}: Services,
	{organizationId, by, action}: {organizationId: string; by: Caller; action: string},
	flags: Partial<Pick<SubscriptionState, 'cancelAtPeriodEnd' | 'scheduledPlan' | 'currentPeriodEnd'>>,
): Promise<Subscription> =>
	inTransaction(db, async (trx) => {
		const current = await createSubscriptionStore(trx).lockOf(organizationId);
		if (current === null || !isLive(current)) {
			throw noSubscription();
		}

		return applySubscription(trx, {
			organizationId,
			state: {...stateOf(current), ...flags},
			by,
			now: clock.now(),
			action,
		});
	});

/** Takes back at the gateway what would end or lower the subscription, before something else is asked of it. */
const undoPending = async (gateway: Gateway, subscription: Subscription): Promise<void> => {
	if (subscription.scheduledPlan !== null && !subscription.cancelAtPeriodEnd) {
		await gateway.keepPlan(subscription);
	}

	if (subscription.cancelAtPeriodEnd) {
		await gateway.setCancelAtPeriodEnd(subscription, false);
	}
};

/** A dearer plan: the difference is taken now, and the plan changes when the gateway tells that it was paid. */
const upgrade = async (
	services: Services,
	{organization, by}: Change,
	subscription: Subscription,
	gateway: Gateway,
	plan: ReturnType<typeof requirePlanForSale>,
): Promise<CheckoutSessionResult> => {
	const {db, clock, config} = services;
	const currency = currencyOf[gateway.name];
	const now = clock.now();
	const {currentPeriodStart: start, currentPeriodEnd: end} = subscription;
	const from = config.plans[subscription.plan]?.prices[currency] ?? 0;
	const to = plan.plan.prices[currency];
	const attempt = await newAttempt(db, {
		organizationId: organization.id,
		gateway,
		purpose: 'UPGRADE',
		plan,
		currency,
		amount: start === null || end === null ? to : proratedDifference({from, to, currency}, {start, end}, now),
		now,
	});
	const result = await callForAttempt(services, attempt, async () => {
		await undoPending(gateway, subscription);
		return gateway.upgrade(subscription, attempt, payerOf(organization, subscription));
	});
	const superseded = await inTransaction(db, async (trx) => {
		const attempts = createAttemptStore(trx);
		await attempts.update(organization.id, attempt.id, {gatewayRef: result.ref, gatewayRef2: result.ref2}, clock.now());
		return attempts.supersedeOpen(organization.id, attempt.id, clock.now());
	});
	const flags = {cancelAtPeriodEnd: false, scheduledPlan: null};
	await writeFlags(services, {organizationId: organization.id, by, action: 'UPGRADE'}, flags);
	closeSuperseded(services, gateway, superseded);
	await reprocessUnmatched(services, gateway.name, result.ref);
	const after = await requireLive(services, organization.id);
	return checkoutResult(result.paid ? 'UPGRADED' : 'UPGRADE_CHECKOUT', after, {
		gateway: gateway.name,
		checkout: result.paid ? null : result,
	});
};

/** A cheaper plan, or none that is paid: from the next period on. */
const downgrade = async (
	services: Services,
	{organization, by}: Change,
	subscription: Subscription,
	gateway: Gateway | null,
	plan: string,
): Promise<CheckoutSessionResult> => {
	const ends = plan === FALLBACK_PLAN;
	if (gateway !== null) {
		await undoPending(gateway, subscription);
		await (ends ? gateway.setCancelAtPeriodEnd(subscription, true) : gateway.scheduleDowngrade(subscription, plan));
	}

	const after = await writeFlags(
		services,
		{organizationId: organization.id, by, action: 'SCHEDULE_DOWNGRADE'},
		{
			cancelAtPeriodEnd: ends,
			scheduledPlan: plan,
			...manualPeriodEnd(subscription, ends ? services.clock.now() : null),
		},
	);
	return checkoutResult('SCHEDULED_DOWNGRADE', after, {gateway: after.gateway, checkout: null});
};

/** The current plan: what was scheduled is taken back. @throws 409 where nothing was. */
const keepCurrent = async (
	services: Services,
	{organization, by}: Change,
	subscription: Subscription,
	gateway: Gateway | null,
): Promise<CheckoutSessionResult> => {
	if (subscription.scheduledPlan === null) {
		throw planUnchanged(subscription.plan);
	}

	if (gateway !== null) {
		await undoPending(gateway, subscription);
	}

	const after = await writeFlags(
		services,
		{organizationId: organization.id, by, action: 'CANCEL_DOWNGRADE'},
		{cancelAtPeriodEnd: false, scheduledPlan: null, ...manualPeriodEnd(subscription, null)},
	);
	return checkoutResult('DOWNGRADE_CANCELLED', after, {gateway: after.gateway, checkout: null});
};

/**
 * Changes the plan of a live subscription (`facts/providers.md` 5.3): dearer at once, cheaper with the next period.
 * @throws 400 for ENTERPRISE and what is no plan, 409 without a live subscription or without a change, 502, 503.
 */
export const changePlan = async (services: Services, change: Change): Promise<CheckoutSessionResult> => {
	const {plans} = services.config;
	const name = planNamed(plans, change.plan);
	if (name === null) {
		throw unknownPlan(change.plan);
	}

	if (name !== FALLBACK_PLAN) {
		requirePlanForSale(plans, name);
	}

	return withLease(services, billingLease(change.organization.id), async () => {
		const subscription = await requireLive(services, change.organization.id);
		const gateway = gatewayOfSubscription(services, subscription);
		if (planNamed(plans, subscription.plan) === name) {
			return keepCurrent(services, change, subscription, gateway);
		}

		// What ops set is paid by nobody: the first payment is taken, and replaces the sentinel when it has come.
		if (gateway === null && name !== FALLBACK_PLAN) {
			const opened = await openCheckout(services, change);
			return checkoutResult('UPGRADE_CHECKOUT', opened.subscription, {
				gateway: opened.gateway.name,
				checkout: opened.checkout,
			});
		}

		if (gateway === null || name === FALLBACK_PLAN) {
			return downgrade(services, change, subscription, gateway, name);
		}

		const currency = currencyOf[gateway.name];
		const plan = requirePlanForSale(plans, name, currency);
		const current = plans[planNamed(plans, subscription.plan) ?? '']?.prices[currency] ?? 0;
		return plan.plan.prices[currency] > current
			? upgrade(services, change, subscription, gateway, plan)
			: downgrade(services, change, subscription, gateway, name);
	});
};
