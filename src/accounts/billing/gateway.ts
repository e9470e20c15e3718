import type {BillingAttempt} from './attempt-store.ts';
import type {GatewayName, Subscription} from './subscription.ts';

export type Payer = {
	organizationId: string;
	name: string;
	email: string | null;
	/** Stripe's id of the organization; null before the first checkout, and at Paymob. */
	customerId: string | null;
};

/** A hosted checkout. `ref` and `ref2` match its events. */
export type Checkout = {url: string; sessionId: string; ref: string; ref2: string | null; customerId: string | null};

/**
 * The result of an upgrade. The plan changes with the gateway's event, not before. `paid: null`: the saved card was
 * declined, so a checkout is needed, as another attempt. `ref: null`: an earlier attempt succeeded, and nothing was
 * charged for this one.
 */
export type Upgrade =
	| {paid: true; ref: string | null; ref2: string | null}
	| ({paid: false} & Checkout)
	| {paid: null; reason: string};

/**
 * A payment gateway (contract/billing 2). Every function throws `gatewayFailed` (502) if the gateway refuses or does not
 * answer, and is then safe to repeat.
 */
export type Gateway = {
	name: GatewayName;
	/** Opens a hosted checkout for an attempt. */
	openCheckout(attempt: BillingAttempt, payer: Payer): Promise<Checkout>;
	/** Makes an open checkout unusable, if the gateway can. */
	closeCheckout(attempt: BillingAttempt): Promise<void>;
	/** Settles charges without an outcome, before another one. @throws 409 while an outcome is unknown. */
	settleCharges?(organizationId: string): Promise<void>;
	/** Charges the difference to a higher plan now, or opens a page if that needs the customer. */
	upgrade(subscription: Subscription, attempt: BillingAttempt, payer: Payer): Promise<Upgrade>;
	/** Schedules another plan for the next period; undone by `keepPlan`. */
	scheduleDowngrade(subscription: Subscription, plan: string): Promise<void>;
	/** Cancels a scheduled plan. */
	keepPlan(subscription: Subscription): Promise<void>;
	/** Ends the subscription with its period, or takes that back. */
	setCancelAtPeriodEnd(subscription: Subscription, cancel: boolean): Promise<void>;
	/** Ends the subscription now, without an invoice. One that has ended is left alone. */
	cancelNow(subscription: {gatewaySubscriptionId: string | null}): Promise<void>;
};

/** Stripe has a hosted page on which customers manage their cards. */
export type CardGateway = Gateway & {
	/** The page's URL, valid for a short time and for this customer. */
	openPortal(customerId: string): Promise<string>;
};
