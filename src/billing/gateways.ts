import {gatewayOff} from '../errors.ts';
import type {Currency} from '../plans/plans.ts';
import type {CardGateway, Gateway} from './gateway.ts';
import {type GatewayName, gatewayOf} from './gateway-name.ts';
import type {Subscription} from './subscription.ts';

/** The gateways of this installation; null: not configured. */
export type Gateways = Readonly<{GATEWAY_A: CardGateway | null; GATEWAY_B: Gateway | null}>;

type Deps = {gateways: Gateways};

/** @throws 503 where the gateway is off. */
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

/** What a running subscription is paid through; null for one that ops set. @throws 503. */
export const gatewayOfSubscription = (deps: Deps, {gateway}: Pick<Subscription, 'gateway'>): Gateway | null =>
	gateway === 'MANUAL' ? null : requireGateway(deps, gateway);

/** The currency that a gateway takes. */
export const currencyOf: Record<GatewayName, Currency> = {GATEWAY_A: 'USD', GATEWAY_B: 'EGP'};
