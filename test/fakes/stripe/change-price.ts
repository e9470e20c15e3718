import type Stripe from 'stripe';
import {type Account, known, nulls, type Subscription} from './account.ts';
import {newInvoice, newLine} from './new-invoice.ts';
import {amountOf} from './new-price.ts';
import {changeSubscription, itemOf, repriced, withItem} from './new-subscription.ts';
import {collect, finalizeInvoice, voidInvoice} from './payments.ts';
import {recover} from './subscription-status.ts';

/** How long a pending update waits for its payment at most: about 23 hours (contract/billing 15). */
const PENDING_SECONDS = 23 * 3600;

export type PriceChange = {
	price: string;
	quantity?: number;
	proration: string;
	payment: string;
	/** Unix seconds from which the new price counts. */
	from: number;
};

/** The unused time on the old price as a credit, and the remaining time on the new one. */
const prorationLines = (
	account: Account,
	subscription: Subscription,
	{price: id, quantity, from}: PriceChange,
): Stripe.InvoiceLineItem[] => {
	const item = itemOf(subscription);
	const {price: before, quantity: had = 1, current_period_start: start, current_period_end: end} = item;
	const after = known(account.prices, id);
	const has = quantity ?? had;
	const period = {start: from, end};
	const share = (end - from) / (end - start);
	return [
		newLine(subscription, {
			price: before,
			quantity: had,
			amount: -Math.round(amountOf(before, had) * share),
			period,
			proration: true,
			description: `Unused time on ${before.id}`,
		}),
		newLine(subscription, {
			price: after,
			quantity: has,
			amount: Math.round(amountOf(after, has) * share),
			period,
			proration: true,
			description: `Remaining time on ${after.id}`,
		}),
	];
};

const hold = (account: Account, subscription: Subscription, items: Stripe.SubscriptionItem[]): void =>
	changeSubscription(account, subscription, {
		pending_update: {
			...nulls('billing_cycle_anchor cancel_at_period_end discount discounts metadata trial_end trial_from_plan'),
			expires_at: Math.min(account.now() + PENDING_SECONDS, itemOf(subscription).current_period_end),
			subscription_items: items,
		},
	});

/** What a refused payment of the difference comes to. */
const whenRefused = (
	account: Account,
	subscription: Subscription,
	next: Stripe.SubscriptionItem,
	payment: string,
): void => {
	if (payment === 'pending_if_incomplete') {
		hold(account, subscription, [next]);
		return;
	}

	changeSubscription(account, subscription, {items: withItem(subscription, next), status: 'past_due'});
};

/** Drops what a pending update asked for. */
export const dropPendingUpdate = (account: Account, subscription: Subscription): void => {
	const invoice = known(account.invoices, subscription.latest_invoice);
	if (invoice.status === 'open') {
		voidInvoice(account, invoice);
	}

	account.emit('customer.subscription.pending_update_expired', subscription);
	changeSubscription(account, subscription, {pending_update: null});
};

/** The payment arrived: what waited for it happens. */
export const applyPendingUpdate = (account: Account, subscription: Subscription): void => {
	const [item] = subscription.pending_update?.subscription_items ?? [];
	if (item !== undefined) {
		changeSubscription(account, subscription, {items: withItem(subscription, item), pending_update: null});
		account.emit('customer.subscription.pending_update_applied', subscription);
	}
};

/** Puts a subscription on another price within its period, which stays what it is. */
export const changePrice = (account: Account, subscription: Subscription, change: PriceChange): void => {
	const next = repriced(account, itemOf(subscription), change.price, change.quantity);
	if (subscription.pending_update !== null) {
		dropPendingUpdate(account, subscription);
	}

	const isSame = itemOf(subscription).price.id === change.price && itemOf(subscription).quantity === next.quantity;
	if (isSame || change.proration === 'none') {
		changeSubscription(account, subscription, {items: withItem(subscription, next)});
		return;
	}

	const lines = prorationLines(account, subscription, change);
	if (change.proration === 'create_prorations') {
		account.pendingLines.set(subscription.id, [...(account.pendingLines.get(subscription.id) ?? []), ...lines]);
		changeSubscription(account, subscription, {items: withItem(subscription, next)});
		return;
	}

	const invoice = newInvoice(account, subscription, 'subscription_update', lines);
	finalizeInvoice(account, invoice);
	if (collect(account, invoice)) {
		changeSubscription(account, subscription, {items: withItem(subscription, next)});
		// The latest invoice alone decides whether it is past due, whatever is owed besides.
		recover(account, subscription, invoice);
	} else {
		whenRefused(account, subscription, next, change.payment);
	}
};
