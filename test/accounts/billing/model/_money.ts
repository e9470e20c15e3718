import type {Plans} from '../../../../src/platform/config/plans.ts';
import type {FakePaymob} from '../../../fakes/paymob/paymob.ts';
import type {FakeStripe} from '../../../fakes/stripe/stripe.ts';

/** Money that a gateway took, as the customer sees it: for what, and for how long. Read from the gateways alone. */
export type Payment = {
	gateway: 'GATEWAY_A' | 'GATEWAY_B';
	/** The invoice (A), the transaction (B). */
	id: string;
	/** What it was charged for, as far as the gateway knows it. */
	attemptId: string | null;
	plan: string;
	/** A whole month, or the rest of one on a dearer plan. */
	kind: 'month' | 'rest';
	/** Minor units; `kept` is without refunds. */
	amount: number;
	kept: number;
	/** Until when it pays, where the gateway says so. */
	until: Date | null;
	/** When the gateway ended the subscription that it belongs to. */
	endedAt: Date | null;
};

const dateOf = (seconds: number | null | undefined): Date | null =>
	seconds === null || seconds === undefined ? null : new Date(seconds * 1000);

const stripePayments = ({account, charges}: FakeStripe, plans: Plans): Payment[] =>
	charges.map((charge) => {
		const lines = account.invoices.get(charge.invoice)?.lines.data ?? [];
		const bought = lines.findLast(({amount}) => amount > 0);
		const price = bought?.pricing?.price_details?.price;
		const plan = Object.entries(plans).find(([, {stripePrice}]) => stripePrice !== null && stripePrice === price)?.[0];
		const isRest = charge.reason === 'subscription_update';
		return {
			gateway: 'GATEWAY_A',
			id: charge.invoice,
			attemptId: isRest ? charge.idempotencyKey : charge.reason === 'subscription_create' ? charge.attemptId : null,
			plan: plan ?? '',
			kind: isRest ? 'rest' : 'month',
			amount: charge.amount,
			kept: charge.amount - charge.refunded,
			until: dateOf(bought?.period.end),
			endedAt: dateOf(account.subscriptions.get(charge.subscription)?.ended_at),
		};
	});

const paymobPayments = ({merchant, charges}: FakePaymob): Payment[] =>
	charges.map((charge) => {
		const [item] = (merchant.intentions.get(charge.orderId)?.items ?? []) as Array<{name: string}>;
		const [, month, rest] = /^(\w+) monthly$|^Change to (\w+)$/.exec(item?.name ?? '') ?? [];
		return {
			gateway: 'GATEWAY_B',
			id: String(charge.transactionId),
			attemptId: charge.attemptId,
			plan: month ?? rest ?? '',
			kind: month === undefined ? 'rest' : 'month',
			amount: charge.amount,
			kept: charge.amount - charge.refunded,
			until: null,
			endedAt: null,
		};
	});

export const paymentsOf = (gateways: {stripe: FakeStripe; paymob: FakePaymob}, plans: Plans): Payment[] => [
	...stripePayments(gateways.stripe, plans),
	...paymobPayments(gateways.paymob),
];

/** Subscriptions of gateway A that take money, or will try to. */
export const runningAtStripe = ({account}: FakeStripe) =>
	[...account.subscriptions.values()].filter(({status}) =>
		['active', 'trialing', 'past_due', 'unpaid'].includes(status),
	);
