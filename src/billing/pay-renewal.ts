import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {type Db, inTransaction} from '../db/db.ts';
import {withLease} from '../db/lease.ts';
import {nothingToRenew} from '../errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Currency} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {type BillingAttempt, createAttemptStore} from './attempt-store.ts';
import {billingLease} from './billing-lease.ts';
import {type CheckoutSessionResult, checkoutResult} from './checkout-result.ts';
import type {Checkout, Gateway, Payer} from './gateway.ts';
import {currencyOf, requireGateway} from './gateways.ts';
import {type AttemptOrder, callForAttempt, newAttempt, payerOf} from './new-attempt.ts';
import {FIRST_CHECKOUT} from './paymob/renewal-schedule.ts';
import {type PlanForSale, requirePlanForSale} from './plan-for-sale.ts';
import {isLive, nextPeriodOf, type Subscription} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';
import {reprocessUnmatched} from './unmatched-events.ts';

/** Whether the period that was paid is over. */
export const isOver = ({currentPeriodEnd: end}: Subscription, now: Date): boolean => end !== null && end <= now;

/** The next period of gateway B, whole, as something that the customer pays: numbered apart from the job's tries. */
export const renewalOrder = async (
	db: Db,
	{
		gateway,
		subscription,
		plan,
		currency,
		now,
	}: {
		gateway: Gateway;
		subscription: Subscription;
		plan: PlanForSale;
		currency: Currency;
		now: Date;
	},
): Promise<AttemptOrder> => {
	const {organizationId} = subscription;
	const period = nextPeriodOf(subscription, now);
	const attempts = await createAttemptStore(db).listRenewal(organizationId, period.periodStart);
	const retry = Math.max(FIRST_CHECKOUT - 1, ...attempts.map((attempt) => attempt.retry)) + 1;
	const amount = plan.plan.prices[currency];
	return {organizationId, gateway, purpose: 'RENEWAL', plan, currency, amount, ...period, retry};
};

/** What a declined card was to pay is paid on the gateway's page: another attempt over the same amount. @throws 502. */
export const payByCheckout = async (
	services: Services,
	{declined, order, reason, payer}: {declined: BillingAttempt; order: AttemptOrder; reason: string; payer: Payer},
): Promise<{attempt: BillingAttempt; result: {paid: false} & Checkout}> => {
	const {db, clock} = services;
	const {organizationId, id} = declined;
	await createAttemptStore(db).update(organizationId, id, {status: 'FAILED', lastError: reason}, clock.now());
	const again = order.retry === undefined ? order : {...order, retry: order.retry + 1};
	const attempt = await newAttempt(db, again, clock.now());
	const checkout = await callForAttempt(services, attempt, () => order.gateway.openCheckout(attempt, payer));
	return {attempt, result: {paid: false, ...checkout}};
};

/**
 * Opens a checkout for the next period of a subscription of gateway B whose period is over, for customers without a
 * saved card that can be charged (contract/billing 10: the renewal is offered as a normal checkout too).
 * @throws 409 where nothing is to be renewed, 502, 503.
 */
export const payRenewal = (
	services: Services,
	{organization, by}: {organization: Organization; by: Caller},
): Promise<CheckoutSessionResult> =>
	withLease(services, billingLease(organization.id), async () => {
		const {db, clock, config} = services;
		const find = () => createSubscriptionStore(db).findOf(organization.id);
		if ((await find())?.gateway !== 'GATEWAY_B') {
			throw nothingToRenew();
		}

		const gateway = requireGateway(services, 'GATEWAY_B');
		await gateway.settleCharges?.(organization.id);
		const subscription = await find();
		const now = clock.now();
		const isDue = subscription !== null && isLive(subscription) && isOver(subscription, now);
		if (!isDue || subscription.cancelAtPeriodEnd) {
			throw nothingToRenew();
		}

		const currency = currencyOf[gateway.name];
		const plan = requirePlanForSale(config.plans, subscription.scheduledPlan ?? subscription.plan, currency);
		const attempt = await newAttempt(db, await renewalOrder(db, {gateway, subscription, plan, currency, now}), now);
		const checkout = await callForAttempt(services, attempt, () =>
			gateway.openCheckout(attempt, payerOf(organization, subscription)),
		);
		await inTransaction(db, async (trx) => {
			const refs = {gatewayRef: checkout.ref, gatewayRef2: checkout.ref2};
			await createAttemptStore(trx).update(organization.id, attempt.id, refs, clock.now());
			await recordAudit(trx, clock.now(), by, {
				action: 'OPEN',
				entityType: 'BillingAttempt',
				entityId: attempt.id,
				organizationId: organization.id,
				details: {plan: plan.name, currency, amount: attempt.amount, gateway: gateway.name},
			});
		});
		await reprocessUnmatched(services, gateway.name, checkout.ref);
		const after = (await find()) ?? subscription;
		return checkoutResult('CHECKOUT', after, {gateway: gateway.name, checkout});
	});
