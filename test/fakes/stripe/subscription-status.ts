import {type Account, type Invoice, known, type Subscription} from './account.ts';
import {changeSubscription} from './new-subscription.ts';

/** Whether a subscription runs, whatever is owed for it. */
export const isLive = ({status}: Subscription): boolean =>
	['incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused'].includes(status);

/** Ends a subscription at once and for ever. */
export const endSubscription = (account: Account, subscription: Subscription, reason: string): void => {
	const now = account.now();
	const schedule = subscription.schedule === null ? null : known(account.schedules, subscription.schedule);
	if (schedule !== null) {
		Object.assign(schedule, {status: 'canceled', canceled_at: now, current_phase: null});
		account.emit('subscription_schedule.canceled', schedule);
	}

	Object.assign(subscription, {
		status: 'canceled',
		canceled_at: subscription.canceled_at ?? now,
		ended_at: now,
		pending_update: null,
		schedule: null,
		cancellation_details: {comment: null, feedback: null, feedback_option: null, reason},
	});
	for (const invoice of account.invoices.values()) {
		if (invoice.parent?.subscription_details?.subscription === subscription.id && invoice.status !== 'paid') {
			Object.assign(invoice, {auto_advance: false, next_payment_attempt: null, automatically_finalizes_at: null});
		}
	}

	account.emit('customer.subscription.deleted', subscription);
};

/** Puts right what the payment of an invoice does to its subscription. */
export const recover = (account: Account, subscription: Subscription, invoice: Invoice): void => {
	if (
		['past_due', 'unpaid', 'incomplete'].includes(subscription.status) &&
		subscription.latest_invoice === invoice.id
	) {
		changeSubscription(account, subscription, {status: 'active'});
	}
};

/** Days to the next try, null where none is left. */
const daysToRetry = ({settings}: Account, {attempt_count: tried}: Invoice): number | null =>
	settings.retryDays[tried - 1] ?? null;

/** A renewal was not paid: it is tried again, or that was the last time. */
export const chaseRenewal = (account: Account, subscription: Subscription, invoice: Invoice): void => {
	const days = daysToRetry(account, invoice);
	if (days !== null) {
		invoice.next_payment_attempt = account.now() + days * 86_400;
		changeSubscription(account, subscription, {status: 'past_due'});
		return;
	}

	invoice.next_payment_attempt = null;
	invoice.auto_advance = false;
	if (account.settings.whenExhausted === 'unpaid') {
		changeSubscription(account, subscription, {status: 'unpaid'});
	} else {
		endSubscription(account, subscription, 'payment_failed');
	}
};
