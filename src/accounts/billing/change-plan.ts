import {type Currency, FREE_PLAN, planNamed, storedPrice} from '../../platform/config/plans.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {withLease} from '../../platform/db/lease.ts';
import {planUnchanged, required, unknownPlan} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {billingLease} from './apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from './attempt-store.ts';
import {type CheckoutSessionResult, checkoutResult, openCheckout} from './checkout.ts';
import {type BillingServices, currencyOf, type Gateway, gatewayOfSubscription, type Upgrade} from './gateway.ts';
import {type AttemptOrder, callForAttempt, closeSuperseded, newAttempt, payerOf} from './new-attempt.ts';
import {isOver, payByCheckout, renewalOrder} from './pay-renewal.ts';
import {applyFlags, replacePending, requireLive, writeFlags} from './pending-change.ts';
import {type PlanForSale, requirePlanForSale} from './plan-for-sale.ts';
import {replayUnmatched} from './replay-events.ts';
import {isLive, manualPeriodEnd, proratedDifference, type Subscription} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';

/** The difference for the rest of the period, or if one that Oplink renews is over, the next one in full. */
const upgradeOrder = async (
	services: Pick<Services, 'db' | 'clock' | 'config'>,
	subscription: Subscription,
	gateway: Gateway,
	plan: PlanForSale,
): Promise<AttemptOrder> => {
	const {organizationId, currentPeriodStart: start, currentPeriodEnd: end} = subscription;
	const now = services.clock.now();
	if (gateway.renewals !== null && isOver(subscription, now)) {
		return renewalOrder(services, {gateway, subscription, plan});
	}

	const {plans} = services.config;
	const currency = currencyOf[gateway.name];
	const to = plan.plan.prices[currency];
	const from = storedPrice(plans, subscription.plan, currency);
	const amount = start === null || end === null ? to : proratedDifference({from, to, currency}, {start, end}, now);
	return {organizationId, gateway, purpose: 'UPGRADE', plan, currency, amount, periodStart: start, periodEnd: end};
};

/**
 * Stores the gateway's answer and clears the scheduled change, unless the row has ended in the meantime.
 * @returns the row, and the open checkouts that this one replaces.
 */
const recordUpgrade = (
	{db, clock}: Pick<Services, 'db' | 'clock'>,
	by: Caller,
	{organizationId, id}: BillingAttempt,
	{ref, intention}: {ref: string | null; intention: string | null},
): Promise<{row: Subscription | null; superseded: BillingAttempt[]}> =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const attempts = createAttemptStore(trx);
		const row = await createSubscriptionStore(trx).lockOf(organizationId);
		const superseded = ref === null ? [] : await attempts.supersedeOpen(organizationId, id, now);
		const answer =
			ref === null
				? {status: 'SUPERSEDED' as const, lastError: 'An earlier attempt succeeded'}
				: {gatewayRef: ref, gatewayRef2: intention};
		await attempts.update(organizationId, id, answer, now);
		const flags = {cancelAtPeriodEnd: false, scheduledPlan: null};
		return {
			row: row !== null && isLive(row) ? await applyFlags(trx, row, flags, {by, now, action: 'UPGRADE'}) : row,
			superseded,
		};
	});

/**
 * Charges the difference to a higher plan now. The plan changes with the event of the payment.
 * @throws 409 if the subscription has ended at the gateway, 502; nothing has changed then.
 */
export const upgradePlan = async (
	services: BillingServices,
	{organization, by}: {organization: Organization; by: Caller},
	{subscription, gateway, plan}: {subscription: Subscription; gateway: Gateway; plan: PlanForSale},
): Promise<CheckoutSessionResult> => {
	const {db, clock} = services;
	const payer = payerOf(organization, subscription);
	const order = await upgradeOrder(services, subscription, gateway, plan);
	const asked = await newAttempt(db, order, clock.now());
	const ask = async (): Promise<Upgrade> => {
		if (subscription.cancelAtPeriodEnd) {
			await gateway.setCancelAtPeriodEnd(subscription, false);
		}

		return gateway.upgrade(subscription, asked, payer);
	};
	const first = await callForAttempt(services, asked, () => replacePending(services, gateway, subscription, ask));
	const {attempt, result} =
		first.paid === null
			? await payByCheckout(services, {declined: asked, order, reason: first.reason, payer})
			: {attempt: asked, result: first};
	const {row, superseded} = await recordUpgrade(services, by, attempt, result);
	closeSuperseded(services, superseded);
	if (result.ref !== null) {
		await replayUnmatched(services, gateway.name, result.ref);
	}

	const after = (await createSubscriptionStore(db).findOf(organization.id)) ?? row ?? subscription;
	return result.paid
		? checkoutResult('UPGRADED', after, gateway.name)
		: checkoutResult('UPGRADE_CHECKOUT', after, gateway.name, result);
};

type Target = {organization: Organization; by: Caller};

/** The gateway is null for a subscription that ops set. */
type LiveSubscription = {subscription: Subscription; gateway: Gateway | null};

const scheduleAtGateway = async (gateway: Gateway, subscription: Subscription, plan: string): Promise<void> => {
	if (plan === FREE_PLAN) {
		await gateway.setCancelAtPeriodEnd(subscription, true);
		return;
	}

	if (subscription.cancelAtPeriodEnd) {
		await gateway.setCancelAtPeriodEnd(subscription, false);
	}

	await gateway.scheduleDowngrade(subscription, plan);
};

/** Schedules a cheaper plan, or the free one, for the next period. @throws 409, 502. */
const downgradePlan = async (
	services: Pick<Services, 'db' | 'clock' | 'log'>,
	{organization, by}: Target,
	{subscription, gateway, plan}: LiveSubscription & {plan: string},
): Promise<CheckoutSessionResult> => {
	const ends = plan === FREE_PLAN;
	if (gateway !== null) {
		const schedule = () => scheduleAtGateway(gateway, subscription, plan);
		await replacePending(services, gateway, subscription, schedule);
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
	return checkoutResult('SCHEDULED_DOWNGRADE', after, after.gateway);
};

/** Cancels a scheduled change. @throws 409 without one, 502. */
export const keepPlan = async (
	services: Pick<Services, 'db' | 'clock' | 'log'>,
	{organization, by}: Target,
	{subscription, gateway}: LiveSubscription,
): Promise<CheckoutSessionResult> => {
	if (subscription.scheduledPlan === null) {
		throw planUnchanged(subscription.plan);
	}

	await (subscription.cancelAtPeriodEnd
		? gateway?.setCancelAtPeriodEnd(subscription, false)
		: gateway?.keepPlan(subscription));
	const after = await writeFlags(
		services,
		{organizationId: organization.id, by, action: 'CANCEL_DOWNGRADE'},
		{cancelAtPeriodEnd: false, scheduledPlan: null, ...manualPeriodEnd(subscription, null)},
	);
	return checkoutResult('DOWNGRADE_CANCELLED', after, after.gateway);
};

type Change = {organization: Organization; by: Caller; plan: string; currency: Currency};

/**
 * Changes the plan of a live subscription (contract/billing 7): upgrades now, downgrades with the next period.
 * @throws 400 for ENTERPRISE or an unknown plan, 409 without a live subscription or without a change, 502, 503.
 */
export const changePlan = async (services: BillingServices, change: Change): Promise<CheckoutSessionResult> => {
	const {plans} = services.config;
	const name = required(planNamed(plans, change.plan), () => unknownPlan(change.plan));
	if (name !== FREE_PLAN) {
		requirePlanForSale(plans, name);
	}

	return withLease(services, billingLease(change.organization.id), async () => {
		const before = await requireLive(services, change.organization.id);
		const gateway = gatewayOfSubscription(services, before);
		await gateway?.renewals?.settleCharges(change.organization.id);
		const subscription = await requireLive(services, change.organization.id);
		if (planNamed(plans, subscription.plan) === name) {
			return keepPlan(services, change, {subscription, gateway});
		}

		// Nobody pays for a plan that ops set: it is replaced after a first payment.
		if (gateway === null && name !== FREE_PLAN) {
			const opened = await openCheckout(services, change);
			return checkoutResult('UPGRADE_CHECKOUT', opened.subscription, opened.gateway.name, opened.checkout);
		}

		if (gateway === null || name === FREE_PLAN) {
			return downgradePlan(services, change, {subscription, gateway, plan: name});
		}

		const currency = currencyOf[gateway.name];
		const plan = requirePlanForSale(plans, name, currency);
		return plan.plan.prices[currency] > storedPrice(plans, subscription.plan, currency)
			? upgradePlan(services, change, {subscription, gateway, plan})
			: downgradePlan(services, change, {subscription, gateway, plan: name});
	});
};
