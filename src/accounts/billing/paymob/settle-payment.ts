import type {Db} from '../../../platform/db/db.ts';
import {type Caller, systemCaller} from '../../audit/audit-log.ts';
import {applySubscription} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import {createInvoiceStore} from '../invoice-store.ts';
import {isLive, monthsFrom, type Subscription} from '../subscription.ts';
import {emptyState, type SubscriptionState, stateOf} from '../subscription-store.ts';
import type {PaymentEffect} from './judge-payment.ts';
import type {PaymobTransaction} from './paymob-payloads.ts';

/** The receiver, in audit records. */
export const byPaymob: Caller = {actor: {...systemCaller.actor, name: 'Paymob'}, requestId: null};

type Period = {periodStart: Date | null; periodEnd: Date | null};
type Effect = {state: SubscriptionState; paid: Period; invoiced: Period; action: string};
type Paying = {attempt: BillingAttempt; row: Subscription; now: Date};

/** The first month from now on. */
const activate = ({attempt, row, now}: Paying): Effect => {
	const period = {periodStart: now, periodEnd: monthsFrom(now, 1)};
	return {
		state: {
			...emptyState,
			plan: attempt.plan,
			status: 'ACTIVE',
			gateway: 'GATEWAY_B',
			gatewaySubscriptionId: attempt.gatewayRef2,
			gatewayCustomerId: row.gatewayCustomerId,
			currentPeriodStart: period.periodStart,
			currentPeriodEnd: period.periodEnd,
			anchorAt: now,
		},
		paid: period,
		invoiced: period,
		action: 'ACTIVATE',
	};
};

/** The attempt's period. A cancellation in the meantime stays. */
const renew = ({attempt, row}: Paying): Effect => {
	const period = {periodStart: attempt.periodStart, periodEnd: attempt.periodEnd};
	const keepsSchedule = isLive(row) && row.scheduledPlan !== attempt.plan;
	return {
		state: {
			...stateOf(row),
			plan: attempt.plan,
			status: 'ACTIVE',
			currentPeriodStart: period.periodStart,
			currentPeriodEnd: period.periodEnd,
			scheduledPlan: keepsSchedule ? row.scheduledPlan : null,
			pastDueAt: null,
		},
		paid: period,
		invoiced: period,
		action: 'RENEW',
	};
};

/** The plan changes, the period stays. */
const upgrade = ({attempt, row, now}: Paying): Effect => ({
	state: {
		...stateOf(row),
		plan: attempt.plan,
		scheduledPlan: row.scheduledPlan === attempt.plan ? null : row.scheduledPlan,
	},
	paid: {periodStart: row.currentPeriodStart, periodEnd: row.currentPeriodEnd},
	invoiced: {periodStart: now, periodEnd: row.currentPeriodEnd},
	action: 'CHANGE_PLAN',
});

const effects = {ACTIVATE: activate, RENEW: renew, UPGRADE: upgrade};

/**
 * Honors a payment (contract/billing 8), in the caller's transaction with row and attempt locked: updates attempt, row
 * and organization, and adds an invoice and an audit record.
 */
export const settlePayment = async (
	trx: Db,
	{id}: PaymobTransaction,
	does: Exclude<PaymentEffect['does'], 'REFUND'>,
	paying: Paying,
): Promise<Subscription> => {
	const {attempt, now} = paying;
	const {organizationId} = attempt;
	const {state, paid, invoiced, action} = effects[does](paying);
	const attempts = createAttemptStore(trx);
	await attempts.update(organizationId, attempt.id, {status: 'PAID', transactionId: id, lastError: null, ...paid}, now);
	if (does === 'ACTIVATE') {
		await attempts.supersedeOpen(organizationId, attempt.id, now);
	}

	await createInvoiceStore(trx).insert(
		{
			organizationId,
			gateway: 'GATEWAY_B',
			gatewayInvoiceId: id,
			number: `B-${id}`,
			plan: attempt.plan,
			amount: attempt.amount,
			currency: attempt.currency,
			paidAt: now,
			...invoiced,
			hostedUrl: null,
			pdfUrl: null,
		},
		now,
	);
	return applySubscription(trx, {organizationId, state, by: byPaymob, now, action});
};
