import type {Caller} from '../audit/audit-log.ts';
import {inTransaction} from '../db/db.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {planNamed} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {type BillingAttempt, createAttemptStore} from './attempt-store.ts';
import {type CheckoutSessionResult, checkoutResult} from './checkout-result.ts';
import type {Gateway, Upgrade} from './gateway.ts';
import {currencyOf} from './gateways.ts';
import {type AttemptOrder, callForAttempt, closeSuperseded, newAttempt, payerOf} from './new-attempt.ts';
import {isOver, payByCheckout, renewalOrder} from './pay-renewal.ts';
import type {PlanForSale} from './plan-for-sale.ts';
import {replacePending} from './replace-pending.ts';
import {isLive, proratedDifference, type Subscription} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';
import {reprocessUnmatched} from './unmatched-events.ts';
import {applyFlags} from './write-flags.ts';

/**
 * What a dearer plan costs: the difference for the rest of the period. Gateway B's period that is over has no rest; then
 * the next one is paid, as a whole, on the dearer plan.
 */
const upgradeOrder = async (
	{db, clock, config}: Pick<Services, 'db' | 'clock' | 'config'>,
	subscription: Subscription,
	gateway: Gateway,
	plan: PlanForSale,
): Promise<AttemptOrder> => {
	const {organizationId, currentPeriodStart: start, currentPeriodEnd: end} = subscription;
	const currency = currencyOf[gateway.name];
	const now = clock.now();
	const to = plan.plan.prices[currency];
	if (gateway.name === 'GATEWAY_B' && isOver(subscription, now)) {
		return renewalOrder(db, {gateway, subscription, plan, currency, now});
	}

	const from = config.plans[planNamed(config.plans, subscription.plan) ?? '']?.prices[currency] ?? 0;
	const amount = start === null || end === null ? to : proratedDifference({from, to, currency}, {start, end}, now);
	return {organizationId, gateway, purpose: 'UPGRADE', plan, currency, amount, periodStart: start, periodEnd: end};
};

/**
 * Writes down what the gateway answered, and that nothing is scheduled any more. A row that ended meanwhile is left
 * alone. @returns the row, and the open checkouts that this one replaces.
 */
const noteUpgrade = (
	{db, clock}: Pick<Services, 'db' | 'clock'>,
	by: Caller,
	{organizationId, id}: BillingAttempt,
	{ref, ref2}: {ref: string | null; ref2: string | null},
): Promise<{row: Subscription | null; superseded: BillingAttempt[]}> =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const attempts = createAttemptStore(trx);
		const row = await createSubscriptionStore(trx).lockOf(organizationId);
		const superseded = ref === null ? [] : await attempts.supersedeOpen(organizationId, id, now);
		const answer =
			ref === null
				? {status: 'SUPERSEDED' as const, lastError: 'An earlier attempt succeeded'}
				: {gatewayRef: ref, gatewayRef2: ref2};
		await attempts.update(organizationId, id, answer, now);
		const flags = {cancelAtPeriodEnd: false, scheduledPlan: null};
		return {
			row: row !== null && isLive(row) ? await applyFlags(trx, row, flags, {by, now, action: 'UPGRADE'}) : row,
			superseded,
		};
	});

/**
 * A dearer plan: the difference is taken now, and the plan changes when the gateway tells that it was paid.
 * @throws 409 where the subscription has ended at the gateway, 502; nothing has changed then.
 */
export const upgradePlan = async (
	services: Services,
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
	const {row, superseded} = await noteUpgrade(services, by, attempt, result);
	closeSuperseded(services, superseded);
	if (result.ref !== null) {
		await reprocessUnmatched(services, gateway.name, result.ref);
	}

	const after = (await createSubscriptionStore(db).findOf(organization.id)) ?? row ?? subscription;
	return checkoutResult(result.paid ? 'UPGRADED' : 'UPGRADE_CHECKOUT', after, {
		gateway: gateway.name,
		checkout: result.paid ? null : result,
	});
};
