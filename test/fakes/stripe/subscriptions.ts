import {type Account, endingBy, found, named, type Subscription} from './account.ts';
import {changePrice} from './change-price.ts';
import type {Params} from './form.ts';
import {changeSubscription, itemOf} from './new-subscription.ts';
import {allowOnly, booleanOf, hashOf, integerOf, listOf, mergeMetadata, textOf, wordOf} from './params.ts';
import {invalidParam, noSuch, notAllowed} from './stripe-errors.ts';
import {endSubscription} from './subscription-status.ts';

const PENDING_PARAMS = ['items', 'payment_behavior', 'proration_behavior', 'proration_date', 'expand', 'off_session'];
const CANCELLATION = ['cancel_at_period_end', 'cancel_at'];

const readSubscription = ({subscriptions}: Account, id: string): Subscription =>
	found(subscriptions, 'subscription', id);

/** What an update may not say, by the state of the subscription and by what it says besides. */
const checkUpdate = ({status, schedule}: Subscription, params: Params): void => {
	const names = Object.keys(params);
	if (status === 'canceled' && names.some((name) => !['metadata', 'cancellation_details', 'expand'].includes(name))) {
		throw notAllowed('A canceled subscription can only update its cancellation_details and metadata.');
	}

	const refused = names.filter((name) => !PENDING_PARAMS.includes(name));
	if (params['payment_behavior'] === 'pending_if_incomplete' && refused.length > 0) {
		throw notAllowed(
			`When \`payment_behavior\` is set to \`pending_if_incomplete\`, you cannot pass: ${refused.join(', ')}.`,
		);
	}

	if (schedule !== null && names.some((name) => CANCELLATION.includes(name))) {
		throw notAllowed(
			`The subscription is managed by the subscription schedule \`${schedule}\`, and updating any cancelation ` +
				'behavior directly is not allowed. Please update the schedule instead.',
		);
	}

	if (CANCELLATION.every((name) => names.includes(name))) {
		throw notAllowed('You may only specify one of these parameters: cancel_at, cancel_at_period_end.');
	}
};

/** The members that say when a subscription ends. */
const cancellationOf = (account: Account, subscription: Subscription, params: Params): Partial<Subscription> => {
	const atPeriodEnd = booleanOf(params, 'cancel_at_period_end');
	const given = textOf(params, 'cancel_at');
	if (atPeriodEnd === null && given === null) {
		return {};
	}

	if (atPeriodEnd === false && !subscription.cancel_at_period_end) {
		// A date that was set by itself stays: it is cleared by an empty `cancel_at`.
		return {};
	}

	const at = atPeriodEnd === true ? itemOf(subscription).current_period_end : integerOf(params, 'cancel_at');
	if (at !== null && at <= account.now()) {
		throw invalidParam('cancel_at', '`cancel_at` must be in the future');
	}

	return {
		cancel_at_period_end: atPeriodEnd === true,
		cancel_at: at,
		canceled_at: at === null ? null : account.now(),
		cancellation_details: endingBy(at === null ? null : 'cancellation_requested'),
	};
};

const changeItems = (account: Account, subscription: Subscription, params: Params): void => {
	const [given, ...more] = listOf(params, 'items') ?? [];
	if (given === undefined) {
		return;
	}

	allowOnly(given, ['id', 'price', 'quantity'], 'items[0]');
	const item = itemOf(subscription);
	if (more.length > 0 || textOf(given, 'id') !== item.id) {
		throw invalidParam('items[0][id]', 'This fake knows subscriptions of one item, which has to be named');
	}

	const price = named(account.prices, 'price', textOf(given, 'price') ?? item.price.id, 'items[0][price]');
	const quantity = integerOf(given, 'quantity');
	changePrice(account, subscription, {
		price: price.id,
		...(quantity === null ? {} : {quantity}),
		proration:
			wordOf(params, 'proration_behavior', ['create_prorations', 'always_invoice', 'none']) ?? 'create_prorations',
		payment: wordOf(params, 'payment_behavior', ['allow_incomplete', 'pending_if_incomplete']) ?? 'allow_incomplete',
		from: integerOf(params, 'proration_date') ?? account.now(),
	});
};

/** `POST /v1/subscriptions/:id`. */
export const updateSubscription = (account: Account, params: Params, id: string): Subscription => {
	const subscription = readSubscription(account, id);
	allowOnly(params, [
		...PENDING_PARAMS,
		...CANCELLATION,
		'metadata',
		'cancellation_details',
		'default_payment_method',
		'description',
	]);
	checkUpdate(subscription, params);
	changeItems(account, subscription, params);
	changeSubscription(account, subscription, {
		...cancellationOf(account, subscription, params),
		metadata: mergeMetadata(subscription.metadata, params),
	});
	return subscription;
};

/** `DELETE /v1/subscriptions/:id`. */
export const cancelSubscription = (account: Account, params: Params, id: string): Subscription => {
	const subscription = readSubscription(account, id);
	allowOnly(params, ['invoice_now', 'prorate', 'cancellation_details']);
	hashOf(params, 'cancellation_details');
	if (subscription.status === 'canceled') {
		throw noSuch('subscription', id);
	}

	if (booleanOf(params, 'prorate') || booleanOf(params, 'invoice_now')) {
		throw invalidParam('prorate', 'This fake gives nothing back for unused time');
	}

	endSubscription(account, subscription, 'cancellation_requested');
	return subscription;
};
