import {type Account, endingBy, type Invoice, known, type Subscription} from './account.ts';
import {changeSubscription} from './new-subscription.ts';

/** Whether a subscription runs, whatever is owed for it. */
export const isLive = ({status}: Subscription): boolean =>
	['incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused'].includes(status);

/** Ends a subscription at once and for ever. */
export const endSubscription = (
	account: Account,
	subscription: Subscription,
	reason: 'cancellation_requested' | 'payment_failed',
): void => {
	const now = account.now();
	if (subscription.schedule !== null) {
		const schedule = known(account.schedules, subscription.schedule);
		Object.assign(schedule, {status: 'canceled', canceled_at: now, current_phase: null});
		account.emit('subscription_schedule.canceled', schedule);
	}

	Object.assign(subscription, {
		status: 'canceled',
		canceled_at: subscription.canceled_at ?? now,
		ended_at: now,
		pending_update: null,
		schedule: null,
		cancellation_details: endingBy(reason),
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

/** Days from one failed renewal payment to the next try. */
const RETRY_DAYS = [3, 5, 7];

/** A renewal was not paid: it is tried again, or that was the last time. */
export const chaseRenewal = (account: Account, subscription: Subscription, invoice: Invoice): void => {
	const days = RETRY_DAYS[invoice.attempt_count - 1];
	if (days === undefined) {
		Object.assign(invoice, {next_payment_attempt: null, auto_advance: false});
		endSubscription(account, subscription, 'payment_failed');
	} else {
		invoice.next_payment_attempt = account.now() + days * 86_400;
		changeSubscription(account, subscription, {status: 'past_due'});
	}
};
