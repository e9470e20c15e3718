import type Stripe from 'stripe';
import {type Account, found, known, named, newId, nulls, type Schedule, type Subscription} from './account.ts';
import type {Params} from './form.ts';
import {itemOf, noTax} from './new-subscription.ts';
import {
	allowOnly,
	booleanOf,
	hashOf,
	integerOf,
	listOf,
	mergeMetadata,
	requiredText,
	textOf,
	wordOf,
} from './params.ts';
import {durationAfter} from './periods.ts';
import {invalidParam, missingParam, notAllowed} from './stripe-errors.ts';

type Phase = Stripe.SubscriptionSchedule.Phase;

const newPhase = (price: Stripe.Price, quantity: number, start: number, end: number): Phase => ({
	add_invoice_items: [],
	...nulls('application_fee_percent billing_cycle_anchor billing_thresholds collection_method'),
	...nulls('default_payment_method description invoice_settings on_behalf_of transfer_data trial_end'),
	currency: price.currency,
	default_tax_rates: [],
	discounts: [],
	end_date: end,
	items: [{billing_thresholds: null, discounts: [], metadata: {}, plan: price.id, price: price.id, quantity}],
	metadata: {},
	proration_behavior: 'create_prorations',
	start_date: start,
});

const subscriptionFor = (account: Account, id: string): Subscription => {
	const subscription = named(account.subscriptions, 'subscription', id, 'from_subscription');
	if (subscription.status === 'canceled') {
		throw notAllowed('You cannot migrate a subscription that is canceled to a subscription schedule.');
	}

	if (subscription.schedule !== null) {
		throw notAllowed(
			`You cannot migrate a subscription that is already attached to a schedule: ${subscription.schedule}.`,
		);
	}

	return subscription;
};

/** `POST /v1/subscription_schedules` from a subscription, whose period is the first phase. */
export const createSchedule = (account: Account, params: Params): Schedule => {
	allowOnly(params, ['from_subscription']);
	const subscription = subscriptionFor(account, requiredText(params, 'from_subscription'));
	const {price, quantity = 1, current_period_start: start, current_period_end: end} = itemOf(subscription);
	const schedule: Schedule = {
		id: newId('sub_sched'),
		object: 'subscription_schedule',
		...nulls('application canceled_at completed_at customer_account released_at released_subscription test_clock'),
		billing_mode: {flexible: {proration_discounts: 'included'}, type: 'flexible', updated_at: account.now()},
		created: account.now(),
		current_phase: {start_date: start, end_date: end},
		customer: subscription.customer,
		default_settings: {
			...nulls('application_fee_percent billing_thresholds default_payment_method description on_behalf_of'),
			...nulls('transfer_data'),
			automatic_tax: noTax,
			billing_cycle_anchor: 'automatic',
			collection_method: 'charge_automatically',
			invoice_settings: {
				...nulls('account_tax_ids custom_fields days_until_due description footer'),
				issuer: {type: 'self'},
			},
		},
		end_behavior: subscription.cancel_at_period_end ? 'cancel' : 'release',
		livemode: false,
		metadata: {},
		pause_schedules: [],
		phases: [newPhase(price, quantity, start, end)],
		status: 'active',
		subscription: subscription.id,
	};
	account.schedules.set(schedule.id, schedule);
	subscription.schedule = schedule.id;
	account.emit('subscription_schedule.created', schedule);
	account.emit('customer.subscription.updated', subscription, {schedule: null});
	return schedule;
};

/** A schedule that still rules. @throws 400 otherwise. */
const readActive = (account: Account, id: string, verb: string): Schedule => {
	const schedule = found(account.schedules, 'subscription_schedule', id);
	if (schedule.status !== 'active') {
		throw notAllowed(
			`You cannot ${verb} a subscription schedule that is currently in the \`${schedule.status}\` status. ` +
				'It must be in `not_started`, or `active` status.',
		);
	}

	return schedule;
};

const endOf = (params: Params, start: number, name: string): number => {
	const duration = hashOf(params, 'duration');
	if (duration === null) {
		return integerOf(params, 'end_date') ?? start;
	}

	allowOnly(duration, ['interval', 'interval_count'], `${name}[duration]`);
	return durationAfter(start, requiredText(duration, 'interval'), integerOf(duration, 'interval_count') ?? 1);
};

const phaseOf = (account: Account, params: Params, index: number, startsAt: number | null): Phase => {
	const name = `phases[${index}]`;
	allowOnly(params, ['start_date', 'end_date', 'duration', 'items', 'proration_behavior', 'metadata'], name);
	const start = integerOf(params, 'start_date') ?? startsAt;
	if (start === null) {
		throw notAllowed(
			'The subscription schedule update is missing at least one phase with a `start_date` to anchor end dates to.',
		);
	}

	const [item] = listOf(params, 'items') ?? [];
	if (item === undefined) {
		throw missingParam(`${name}[items]`);
	}

	allowOnly(item, ['price', 'quantity'], `${name}[items][0]`);
	const price = named(account.prices, 'price', requiredText(item, 'price'), `${name}[items][0][price]`);
	const end = endOf(params, start, name);
	if (end <= start) {
		throw invalidParam(`${name}[end_date]`, 'A phase has to end after it starts');
	}

	return {
		...newPhase(price, integerOf(item, 'quantity') ?? 1, start, end),
		metadata: mergeMetadata({}, params),
		proration_behavior: textOf(params, 'proration_behavior') ?? 'create_prorations',
	};
};

/** `POST /v1/subscription_schedules/:id`. The phase that runs has to be repeated as it is. */
export const updateSchedule = (account: Account, params: Params, id: string): Schedule => {
	const schedule = readActive(account, id, 'update');
	allowOnly(params, ['end_behavior', 'proration_behavior', 'phases', 'metadata']);
	const phases: Phase[] = [];
	for (const [index, given] of (listOf(params, 'phases') ?? []).entries()) {
		phases.push(phaseOf(account, given, index, phases.at(-1)?.end_date ?? null));
	}

	if (phases.length > 0 && phases[0]?.start_date !== schedule.current_phase?.start_date) {
		throw invalidParam('phases[0][start_date]', 'You can not modify the start date of the current phase.');
	}

	Object.assign(schedule, {
		...(phases.length > 0 ? {phases} : {}),
		end_behavior: wordOf(params, 'end_behavior', ['release', 'cancel']) ?? schedule.end_behavior,
		metadata: mergeMetadata(schedule.metadata ?? {}, params),
	});
	const [current] = schedule.phases;
	if (current !== undefined) {
		schedule.current_phase = {start_date: current.start_date, end_date: current.end_date};
	}

	account.emit('subscription_schedule.updated', schedule);
	return schedule;
};

/** Lets the subscription go on without its schedule, on the price it has. */
export const detach = (account: Account, schedule: Schedule): void => {
	const subscription = known(account.subscriptions, schedule.subscription);
	Object.assign(schedule, {
		status: 'released',
		released_at: account.now(),
		released_subscription: subscription.id,
		subscription: null,
		current_phase: null,
	});
	subscription.schedule = null;
	account.emit('subscription_schedule.released', schedule);
	account.emit('customer.subscription.updated', subscription, {schedule: schedule.id});
};

/** `POST /v1/subscription_schedules/:id/release`. */
export const releaseSchedule = (account: Account, params: Params, id: string): Schedule => {
	const schedule = readActive(account, id, 'release');
	allowOnly(params, ['preserve_cancel_date']);
	booleanOf(params, 'preserve_cancel_date');
	detach(account, schedule);
	return schedule;
};
