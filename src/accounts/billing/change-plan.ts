import {type Currency, planNamed, storedPrice} from '../../platform/config/plans.ts';
import {withLease} from '../../platform/db/lease.ts';
import {required, unknownPlan} from '../../platform/errors.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {billingLease, FALLBACK_PLAN} from './apply-subscription.ts';
import {openCheckout} from './checkout.ts';
import {type CheckoutSessionResult, checkoutResult} from './checkout-result.ts';
import {downgradePlan, keepPlan} from './downgrade-plan.ts';
import type {BillingServices} from './gateway.ts';
import {currencyOf, gatewayOfSubscription} from './gateways.ts';
import {requirePlanForSale} from './plan-for-sale.ts';
import {upgradePlan} from './upgrade-plan.ts';
import {requireLive} from './write-flags.ts';

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
