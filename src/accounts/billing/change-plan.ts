import {type Currency, planNamed, storedPrice} from '../../platform/config/plans.ts';
import {withLease} from '../../platform/db/lease.ts';
import {planUnchanged, required, unknownPlan} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {billingLease, FALLBACK_PLAN} from './apply-subscription.ts';
import {type CheckoutSessionResult, checkoutResult, openCheckout} from './checkout.ts';
import {type BillingServices, currencyOf, type Gateway, gatewayOfSubscription} from './gateway.ts';
import {requirePlanForSale} from './plan-for-sale.ts';
import {replacePending} from './replace-pending.ts';
import {manualPeriodEnd, type Subscription} from './subscription.ts';
import {upgradePlan} from './upgrade-plan.ts';
import {requireLive, writeFlags} from './write-flags.ts';

type Target = {organization: Organization; by: Caller};

/** The gateway is null for a subscription that ops set. */
type Running = {subscription: Subscription; gateway: Gateway | null};

const scheduleAtGateway = async (gateway: Gateway, subscription: Subscription, plan: string): Promise<void> => {
	if (plan === FALLBACK_PLAN) {
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
	{subscription, gateway, plan}: Running & {plan: string},
): Promise<CheckoutSessionResult> => {
	const ends = plan === FALLBACK_PLAN;
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
	{subscription, gateway}: Running,
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
	if (name !== FALLBACK_PLAN) {
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
		if (gateway === null && name !== FALLBACK_PLAN) {
			const opened = await openCheckout(services, change);
			return checkoutResult('UPGRADE_CHECKOUT', opened.subscription, opened.gateway.name, opened.checkout);
		}

		if (gateway === null || name === FALLBACK_PLAN) {
			return downgradePlan(services, change, {subscription, gateway, plan: name});
		}

		const currency = currencyOf[gateway.name];
		const plan = requirePlanForSale(plans, name, currency);
		return plan.plan.prices[currency] > storedPrice(plans, subscription.plan, currency)
			? upgradePlan(services, change, {subscription, gateway, plan})
			: downgradePlan(services, change, {subscription, gateway, plan: name});
	});
};
