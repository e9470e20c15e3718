import type Stripe from 'stripe';
import {type Account, endingBy, known, newId, nulls, type Order, type Subscription} from './account.ts';
import {planOf} from './new-price.ts';
import {periodEndAfter} from './periods.ts';

export const noTax = {...nulls('disabled_reason liability provider status'), enabled: false};

const newItem = (
	account: Account,
	subscription: string,
	{price: priceId, quantity}: Order,
	anchor: number,
): Stripe.SubscriptionItem => {
	const price = known(account.prices, priceId);
	return {
		id: newId('si'),
		object: 'subscription_item',
		billing_thresholds: null,
		created: anchor,
		current_period_end: periodEndAfter(anchor, anchor, price),
		current_period_start: anchor,
		current_trial: null,
		discounts: [],
		metadata: {},
		plan: planOf(account, priceId),
		price,
		quantity,
		subscription,
		tax_rates: [],
	};
};

/** The one item that subscriptions of this fake have. */
export const itemOf = ({items}: Subscription): Stripe.SubscriptionItem => {
	const [item] = items.data;
	if (item === undefined) {
		throw new Error('A subscription without an item');
	}

	return item;
};

/** The item on another price. */
export const repriced = (
	account: Account,
	item: Stripe.SubscriptionItem,
	price: string,
	quantity?: number,
): Stripe.SubscriptionItem => ({
	...item,
	price: known(account.prices, price),
	plan: planOf(account, price),
	quantity: quantity ?? item.quantity ?? 1,
});

/** A subscription whose first period starts now. It is stored, and no event is sent yet. */
export const newSubscription = (account: Account, customer: string, order: Order): Subscription => {
	const id = newId('sub');
	const now = account.now();
	const subscription: Subscription = {
		id,
		object: 'subscription',
		...nulls('application application_fee_percent billing_cycle_anchor_config billing_thresholds cancel_at'),
		...nulls('canceled_at customer_account days_until_due default_source description ended_at latest_invoice'),
		...nulls('next_pending_invoice_item_invoice on_behalf_of pause_collection pending_invoice_item_interval'),
		...nulls('pending_setup_intent pending_update schedule test_clock transfer_data trial_end trial_start'),
		automatic_tax: {disabled_reason: null, enabled: false, liability: null},
		billing_cycle_anchor: now,
		billing_mode: {flexible: {proration_discounts: 'included'}, type: 'flexible', updated_at: now},
		billing_schedules: [],
		cancel_at_period_end: false,
		cancellation_details: endingBy(null),
		collection_method: 'charge_automatically',
		created: now,
		currency: known(account.prices, order.price).currency,
		customer,
		default_payment_method: newId('pm'),
		default_tax_rates: [],
		discounts: [],
		invoice_settings: {...nulls('account_tax_ids custom_fields description footer'), issuer: {type: 'self'}},
		items: {
			object: 'list',
			data: [newItem(account, id, order, now)],
			has_more: false,
			url: `/v1/subscription_items?subscription=${id}`,
		},
		livemode: false,
		managed_payments: {enabled: false},
		metadata: {...order.metadata},
		payment_settings: {...nulls('payment_method_options payment_method_types'), save_default_payment_method: 'off'},
		start_date: now,
		status: 'active',
		trial_settings: {end_behavior: {billing_cycle_anchor: null, missing_payment_method: 'create_invoice'}},
	};
	account.subscriptions.set(id, subscription);
	return subscription;
};

/**
 * Changes a subscription and sends an event with the previous values of the changed members.
 * Without a change it sends none.
 */
export const changeSubscription = (
	account: Account,
	subscription: Subscription,
	changes: Partial<Subscription>,
): void => {
	const changed = Object.entries(changes).filter(
		([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(subscription, name)),
	);
	if (changed.length === 0) {
		return;
	}

	const previous = Object.fromEntries(changed.map(([name]) => [name, Reflect.get(subscription, name)]));
	Object.assign(subscription, structuredClone(Object.fromEntries(changed)));
	account.emit('customer.subscription.updated', subscription, previous);
};

/** The items of a subscription with another one instead of its item. */
export const withItem = (
	{items}: Subscription,
	item: Stripe.SubscriptionItem,
): Stripe.ApiList<Stripe.SubscriptionItem> => ({...items, data: [item]});
