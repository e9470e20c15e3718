import {type Account, type Invoice, known, type Schedule, type Subscription} from './account.ts';
import {dropPendingUpdate} from './change-price.ts';
import {expireSession} from './checkout.ts';
import {newInvoice, periodLine, subscriptionOf} from './new-invoice.ts';
import {changeSubscription, itemOf, repriced, withItem} from './new-subscription.ts';
import {collect, finalizeInvoice} from './payments.ts';
import {periodEndAfter} from './periods.ts';
import {detach} from './schedules.ts';
import {chaseRenewal, endSubscription, isLive, recover} from './subscription-status.ts';

/** Something that the time does. */
type Due = {at: number; happen(): void};

/** Tries to collect a renewal, and draws what follows for the subscription. */
const collectRenewal = (account: Account, invoice: Invoice): void => {
	const subscription = subscriptionOf(account, invoice);
	invoice.next_payment_attempt = null;
	if (collect(account, invoice)) {
		recover(account, subscription, invoice);
	} else {
		chaseRenewal(account, subscription, invoice);
	}
};

/** What a schedule makes of the period that starts now. @returns whether the subscription goes on. */
const followSchedule = (account: Account, subscription: Subscription, schedule: Schedule): boolean => {
	const now = account.now();
	const phase = schedule.phases.find(({start_date: start, end_date: end}) => start <= now && now < end);
	if (phase === undefined) {
		if (schedule.end_behavior === 'cancel') {
			endSubscription(account, subscription, 'cancellation_requested');
			return false;
		}

		detach(account, schedule);
		return true;
	}

	const [planned] = phase.items;
	schedule.current_phase = {start_date: phase.start_date, end_date: phase.end_date};
	account.emit('subscription_schedule.updated', schedule);
	if (typeof planned?.price === 'string') {
		const {items} = subscription;
		items.data = [repriced(account, itemOf(subscription), planned.price, planned.quantity)];
	}

	return true;
};

/** A period ended: the next one starts at once, paid or not, and its invoice follows. */
const renew = (account: Account, subscription: Subscription): void => {
	const before = structuredClone(subscription.items);
	const {schedule} = subscription;
	if (schedule !== null && !followSchedule(account, subscription, known(account.schedules, schedule))) {
		return;
	}

	const item = itemOf(subscription);
	const start = item.current_period_end;
	const end = periodEndAfter(subscription.billing_cycle_anchor, start, item.price);
	const next = withItem(subscription, {...item, current_period_start: start, current_period_end: end});
	subscription.items = before;
	changeSubscription(account, subscription, {items: next});
	const proration = account.pendingLines.get(subscription.id) ?? [];
	account.pendingLines.delete(subscription.id);
	const invoice = newInvoice(account, subscription, 'subscription_cycle', [...proration, periodLine(subscription)]);
	invoice.automatically_finalizes_at = account.now() + account.settings.draftSeconds;
};

const dueOf = (account: Account, subscription: Subscription): Due[] => {
	const due: Due[] = [];
	if (subscription.pending_update !== null) {
		due.push({at: subscription.pending_update.expires_at, happen: () => dropPendingUpdate(account, subscription)});
	}

	// Before the renewal, which is due at the same second.
	if (subscription.cancel_at !== null) {
		const end = () => endSubscription(account, subscription, 'cancellation_requested');
		due.push({at: subscription.cancel_at, happen: end});
	}

	if (subscription.status !== 'incomplete') {
		due.push({at: itemOf(subscription).current_period_end, happen: () => renew(account, subscription)});
	}

	return due;
};

const invoiceDue = (account: Account, invoice: Invoice): Due[] => {
	const {automatically_finalizes_at: finalizes, next_payment_attempt: retries} = invoice;
	if (invoice.status === 'draft' && finalizes !== null) {
		const finalize = () => {
			finalizeInvoice(account, invoice);
			collectRenewal(account, invoice);
		};
		return [{at: finalizes, happen: finalize}];
	}

	return invoice.status === 'open' && retries !== null
		? [{at: retries, happen: () => collectRenewal(account, invoice)}]
		: [];
};

const nextDue = (account: Account): Due | undefined => {
	const due = [
		...[...account.sessions.values()]
			.filter(({status}) => status === 'open')
			.map(({id, expires_at: at}) => ({at, happen: () => void expireSession(account, id)})),
		...[...account.invoices.values()].flatMap((invoice) => invoiceDue(account, invoice)),
		...[...account.subscriptions.values()].filter(isLive).flatMap((one) => dueOf(account, one)),
	];
	return due.sort((a, b) => a.at - b.at)[0];
};

/** Lets happen what became due since the last time, one thing after another, each at its time. */
export const catchUp = (account: Account): void => {
	const now = account.now();
	for (let due = nextDue(account); due !== undefined && due.at <= now; due = nextDue(account)) {
		account.at(due.at, due.happen);
	}
};
