import type {Config} from '../../platform/config/config.ts';
import type {Gateways} from './gateway.ts';
import {createPaymob, type Paymob} from './paymob/paymob.ts';
import {createPaymobGateway} from './paymob/paymob-gateway.ts';
import {createStripe} from './stripe/stripe-client.ts';
import {createStripeGateway} from './stripe/stripe-gateway.ts';

/** The configured gateways. @param deps.publicUrl receives their events. */
export const createGateways = (
	deps: Pick<Paymob, 'db' | 'clock' | 'log'> & {config: Config; publicUrl: string},
): Gateways => {
	const {stripe, paymob, plans, billingReturnUrl} = deps.config;
	const returnUrl = billingReturnUrl ?? deps.publicUrl;
	return {
		GATEWAY_A: stripe && createStripeGateway({stripe: createStripe(stripe), plans, returnUrl}),
		GATEWAY_B: paymob && createPaymobGateway(createPaymob(paymob, {...deps, returnUrl})),
	};
};
