import type {IncomingHttpHeaders} from 'node:http';
import type {Logger} from 'pino';
import type {Background} from '../../platform/background.ts';
import type {Clock} from '../../platform/clock.ts';
import type {Config} from '../../platform/config/config.ts';
import type {Currency, Plan} from '../../platform/config/plans.ts';
import type {Db} from '../../platform/db/db.ts';
import {gatewayOff} from '../../platform/errors.ts';
import type {Metrics} from '../../platform/metrics/metrics.ts';
import type {BillingAttempt} from './attempt-store.ts';
import type {GatewayEvent} from './gateway-event-store.ts';
import type {LedgerEntry} from './ledger.ts';
import type {GatewayName, Subscription} from './subscription.ts';

export type Payer = {
	organizationId: string;
	name: string;
	email: string | null;
	/** The gateway's id of the organization; null before the first checkout, and for a gateway without customers. */
	customerId: string | null;
};

/** A hosted checkout. Its events name `ref`, a session, an invoice or an order, or the `intention` if the gateway has one. */
export type Checkout = Record<'url' | 'sessionId' | 'ref', string> & Record<'intention' | 'customerId', string | null>;

/**
 * The result of an upgrade. The plan changes with the gateway's event, not before. `paid: null`: the saved card was
 * declined, so a checkout is needed, as another attempt. `ref: null`: an earlier attempt succeeded, and nothing was
 * charged for this one.
 */
export type Upgrade =
	| {paid: true; ref: string | null; intention: string | null}
	| ({paid: false} & Checkout)
	| {paid: null; reason: string};

/** A request of a gateway as it came in, not verified. */
export type GatewayRequest = {rawBody: Buffer; headers: IncomingHttpHeaders; query: Record<string, unknown>};

/** The renewals of a gateway whose saved cards Oplink charges itself, period by period (contract/billing 10). */
export type Renewals = {
	/** Settles charges without an outcome, before another one. @throws 409 while an outcome is unknown, 502. */
	settleCharges(organizationId: string): Promise<void>;
	/** Asks for the outcome of attempts that the gateway has not reported. */
	inquire(run: BillingRun): Promise<void>;
	/** Charges for the periods that are over. */
	renew(run: BillingRun): Promise<void>;
	/** Refunds payments that paid for nothing. */
	refund(run: BillingRun): Promise<void>;
};

/**
 * A payment gateway (contract/billing 2). Every function throws `gatewayFailed` (502) if the gateway refuses or does not
 * answer, and is then safe to repeat.
 */
export type Gateway = {
	name: GatewayName;
	/** The gateway's own price of a plan; null if it has none. */
	priceOf(plan: Plan): string | null;
	/** Takes a request of the gateway. @throws 400 for an invalid signature; 5xx if it is to be sent again. */
	receive(services: BillingServices & {metrics: Metrics}, request: GatewayRequest): Promise<void>;
	/** Applies a stored event again. @throws 502. */
	replay(services: BillingServices, event: GatewayEvent, entry: LedgerEntry): Promise<GatewayEvent>;
	/** Null: the gateway renews its subscriptions itself. */
	renewals: Renewals | null;
	/** Opens a hosted checkout for an attempt. */
	openCheckout(attempt: BillingAttempt, payer: Payer): Promise<Checkout>;
	/** Makes an open checkout unusable, if the gateway can. */
	closeCheckout(attempt: BillingAttempt): Promise<void>;
	/** Charges the difference to a higher plan now, or opens a page if that needs the customer. */
	upgrade(subscription: Subscription, attempt: BillingAttempt, payer: Payer): Promise<Upgrade>;
	/** Schedules another plan for the next period; undone by `keepPlan`. */
	scheduleDowngrade(subscription: Subscription, plan: string): Promise<void>;
	/** Cancels a scheduled plan. */
	keepPlan(subscription: Subscription): Promise<void>;
	/** Cancels at the end of the period, or withdraws that cancellation. */
	setCancelAtPeriodEnd(subscription: Subscription, cancel: boolean): Promise<void>;
	/** Ends the subscription now, without an invoice. One that has ended is left alone. */
	cancelNow(subscription: {gatewaySubscriptionId: string | null}): Promise<void>;
};

/** A gateway with a hosted page on which customers manage their cards. */
export type CardGateway = Gateway & {
	/** The page's URL, valid for a short time and for this customer. */
	openPortal(customerId: string): Promise<string>;
};

/** The gateways of this installation; null: not configured. */
export type Gateways = Readonly<{GATEWAY_A: CardGateway | null; GATEWAY_B: Gateway | null}>;

/** The dependencies of operations that may apply events. */
export type BillingServices = {
	config: Config;
	db: Db;
	clock: Clock;
	log: Logger;
	background: Background;
	gateways: Gateways;
};

/** A run of the jobs; it ends early when the service stops. */
export type BillingRun = {services: BillingServices; isStopping: () => boolean};

type Deps = {gateways: Gateways};

/** The gateway of a currency (contract/billing 1). */
const gatewayOf: Record<Currency, GatewayName> = {USD: 'GATEWAY_A', EGP: 'GATEWAY_B'};
export const currencyOf: Record<GatewayName, Currency> = {GATEWAY_A: 'USD', GATEWAY_B: 'EGP'};

/** The gateway whose subscriptions Oplink itself renews and ends (`Renewals`), also while the gateway is turned off. */
export const RENEWED_BY_OPLINK = 'GATEWAY_B' satisfies GatewayName;

/** @throws 503 if the gateway is off. */
export const requireGateway = <Name extends GatewayName>({gateways}: Deps, name: Name): NonNullable<Gateways[Name]> => {
	const gateway = gateways[name];
	if (gateway === null) {
		throw gatewayOff();
	}

	return gateway;
};

/** The gateway that takes a currency. @throws 503. */
export const gatewayForCurrency = (deps: Deps, currency: Currency): Gateway =>
	requireGateway(deps, gatewayOf[currency]);

/** The gateway of a subscription; null for one that ops set. @throws 503. */
export const gatewayOfSubscription = (deps: Deps, {gateway}: Pick<Subscription, 'gateway'>): Gateway | null =>
	gateway === 'MANUAL' ? null : requireGateway(deps, gateway);
