import {storedPrice} from '../../platform/config/plans.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {type BillingAttempt, createAttemptStore} from './attempt-store.ts';
import {type CheckoutSessionResult, checkoutResult} from './checkout.ts';
import {type BillingServices, currencyOf, type Gateway, type Upgrade} from './gateway.ts';
import {type AttemptOrder, callForAttempt, closeSuperseded, newAttempt, payerOf} from './new-attempt.ts';
import {isOver, payByCheckout, renewalOrder} from './pay-renewal.ts';
import type {PlanForSale} from './plan-for-sale.ts';
import {replacePending} from './replace-pending.ts';
import {replayUnmatched} from './replay-events.ts';
import {isLive, proratedDifference, type Subscription} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';
import {applyFlags} from './write-flags.ts';

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
