import {inTransaction} from '../../platform/db/db.ts';
import {withLease} from '../../platform/db/lease.ts';
import {nothingToRenew} from '../../platform/errors.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {billingLease} from './apply-subscription.ts';
import {type BillingAttempt, createAttemptStore, FIRST_CHECKOUT_NUMBER} from './attempt-store.ts';
import {type CheckoutSessionResult, checkoutResult} from './checkout.ts';
import {
	type BillingServices,
	type Checkout,
	currencyOf,
	type Gateway,
	type Payer,
	RENEWED_BY_OPLINK,
	requireGateway,
} from './gateway.ts';
import {type AttemptOrder, openAttempt, payerOf, recordCheckout} from './new-attempt.ts';
import {type PlanForSale, requirePlanForSale} from './plan-for-sale.ts';
import {replayUnmatched} from './replay-events.ts';
import {isLive, nextPeriodOf, type Subscription} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';

/** Whether the paid period is over. */
export const isOver = ({currentPeriodEnd: end}: Subscription, now: Date): boolean => end !== null && end <= now;

/** The next full period as a checkout, numbered apart from the job's retries. */
export const renewalOrder = async (
	{db, clock}: Pick<BillingServices, 'db' | 'clock'>,
	{gateway, subscription, plan}: {gateway: Gateway; subscription: Subscription; plan: PlanForSale},
): Promise<AttemptOrder> => {
	const {organizationId} = subscription;
	const currency = currencyOf[gateway.name];
	const period = nextPeriodOf(subscription, clock.now());
	const attempts = await createAttemptStore(db).listRenewal(organizationId, period.periodStart);
	const retry = Math.max(FIRST_CHECKOUT_NUMBER - 1, ...attempts.map((attempt) => attempt.retry)) + 1;
	const amount = plan.plan.prices[currency];
	return {organizationId, gateway, purpose: 'RENEWAL', plan, currency, amount, ...period, retry};
};

/** After a declined card, opens a checkout over the same amount, as another attempt. @throws 502. */
export const payByCheckout = async (
	services: Pick<BillingServices, 'db' | 'clock' | 'log'>,
	{declined, order, reason, payer}: {declined: BillingAttempt; order: AttemptOrder; reason: string; payer: Payer},
): Promise<{attempt: BillingAttempt; result: {paid: false} & Checkout}> => {
	const {db, clock} = services;
	const {organizationId, id} = declined;
	await createAttemptStore(db).update(organizationId, id, {status: 'FAILED', lastError: reason}, clock.now());
	const again = order.retry === undefined ? order : {...order, retry: order.retry + 1};
	const {attempt, checkout} = await openAttempt(services, again, payer);
	return {attempt, result: {paid: false, ...checkout}};
};

/**
 * Opens a checkout for the next period of a subscription that Oplink renews and whose period is over, for customers without a chargeable
 * saved card (contract/billing 10). @throws 409 if no renewal is due, 502, 503.
 */
export const payRenewal = (
	services: BillingServices,
	{organization, by}: {organization: Organization; by: Caller},
): Promise<CheckoutSessionResult> =>
	withLease(services, billingLease(organization.id), async () => {
		const {db, clock, config} = services;
		const find = () => createSubscriptionStore(db).findOf(organization.id);
		if ((await find())?.gateway !== RENEWED_BY_OPLINK) {
			throw nothingToRenew();
		}

		const gateway = requireGateway(services, RENEWED_BY_OPLINK);
		await gateway.renewals?.settleCharges(organization.id);
		const subscription = await find();
		const isDue = subscription !== null && isLive(subscription) && isOver(subscription, clock.now());
		if (!isDue || subscription.cancelAtPeriodEnd) {
			throw nothingToRenew();
		}

		const name = subscription.scheduledPlan ?? subscription.plan;
		const plan = requirePlanForSale(config.plans, name, currencyOf[gateway.name]);
		const order = await renewalOrder(services, {gateway, subscription, plan});
		const {attempt, checkout} = await openAttempt(services, order, payerOf(organization, subscription));
		await inTransaction(db, (trx) => recordCheckout(trx, attempt, checkout, {by, now: clock.now()}));
		await replayUnmatched(services, gateway.name, checkout.ref);
		return checkoutResult('CHECKOUT', (await find()) ?? subscription, gateway.name, checkout);
	});
