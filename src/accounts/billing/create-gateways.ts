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
	const {config, publicUrl} = deps;
	const returnUrl = config.billingReturnUrl ?? publicUrl;
	const paymob = createPaymob({...deps, returnUrl});
	return {
		GATEWAY_A:
			config.stripe === null
				? null
				: createStripeGateway({stripe: createStripe(config.stripe), plans: config.plans, returnUrl}),
		GATEWAY_B: paymob === null ? null : createPaymobGateway(paymob),
	};
};
