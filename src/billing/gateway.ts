import type {BillingAttempt} from './attempt-store.ts';
import type {GatewayName} from './gateway-name.ts';
import type {Subscription} from './subscription.ts';

/** Who pays. */
export type Payer = {
	organizationId: string;
	name: string;
	email: string | null;
	/** The gateway's own id of the organization; null before the first checkout, and where the gateway keeps none. */
	customerId: string | null;
};

/** A hosted checkout. `ref` and `ref2` are what its events are matched by. */
export type Checkout = {url: string; sessionId: string; ref: string; ref2: string | null; customerId: string | null};

/**
 * What an upgrade of a running subscription came to. Either way the plan changes when the gateway tells, not before.
 * `paid: null`: the saved card was declined; the same is to be paid by a checkout, as another attempt. `ref: null`:
 * an earlier attempt has done it, and nothing was taken for this one.
 */
export type Upgrade =
	| {paid: true; ref: string | null; ref2: string | null}
	| ({paid: false} & Checkout)
	| {paid: null; reason: string};

/**
 * A payment gateway, as the operations of `checkout.ts` and `change-plan.ts` see it (contract/billing 2). Every
 * function throws `gatewayFailed` (502) where the gateway refuses or does not answer, and has then changed nothing
 * that a repetition would double.
 */
export type Gateway = {
	name: GatewayName;
	/** Opens a hosted checkout for an attempt. */
	openCheckout(attempt: BillingAttempt, payer: Payer): Promise<Checkout>;
	/** Makes a checkout that was opened before unusable, where the gateway can. One that is finished is left alone. */
	closeCheckout(attempt: BillingAttempt): Promise<void>;
	/**
	 * Finds out what became of charges that the gateway has not answered for, where it has such, before another one.
	 * @throws 409 while one can still go either way.
	 */
	settleCharges?(organizationId: string): Promise<void>;
	/** Takes the difference to a dearer plan now; by a hosted page where that needs the customer. */
	upgrade(subscription: Subscription, attempt: BillingAttempt, payer: Payer): Promise<Upgrade>;
	/** Lets the subscription go on with another plan from the next period on; undone by `keepPlan`. */
	scheduleDowngrade(subscription: Subscription, plan: string): Promise<void>;
	/** Releases what was scheduled. */
	keepPlan(subscription: Subscription): Promise<void>;
	/** Lets the subscription end with its period, or go on after all. */
	setCancelAtPeriodEnd(subscription: Subscription, cancel: boolean): Promise<void>;
	/** Ends the subscription now, without an invoice. One that has ended already is left alone. */
	cancelNow(subscription: {gatewaySubscriptionId: string | null}): Promise<void>;
};

/** Gateway A has a hosted page on which customers manage their cards. */
export type CardGateway = Gateway & {
	/** The page's address; it is good for a short time and for this customer. */
	openPortal(customerId: string): Promise<string>;
};
