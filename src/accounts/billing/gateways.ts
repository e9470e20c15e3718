import type {Currency} from '../../platform/config/plans.ts';
import {gatewayOff} from '../../platform/errors.ts';
import type {Gateway, Gateways} from './gateway.ts';
import type {GatewayName, Subscription} from './subscription.ts';

type Deps = {gateways: Gateways};

/** Which gateway takes a currency (contract/billing 1). */
const gatewayOf: Record<Currency, GatewayName> = {USD: 'GATEWAY_A', EGP: 'GATEWAY_B'};
export const currencyOf: Record<GatewayName, Currency> = {GATEWAY_A: 'USD', GATEWAY_B: 'EGP'};

/** The gateway whose subscriptions Oplink renews and ends, see `Renewals`; also while it is turned off. */
export const RENEWED_HERE = 'GATEWAY_B' satisfies GatewayName;

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
