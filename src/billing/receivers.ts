import {gatewayOff} from '../errors.ts';
import type {Services} from '../services.ts';
import type {GatewayEvent} from './gateway-event-store.ts';
import {reapplyEvent} from './ledger.ts';
import {paymobApplier} from './paymob/receive-callback.ts';
import {reapplyStripeEvent} from './stripe/receive-event.ts';

/**
 * Applies an event of the ledger again, by the code that received it.
 * @param only UNMATCHED: not where somebody else has applied it meanwhile. @throws 502, 503.
 */
export const reapply = async (
	services: Services,
	event: GatewayEvent,
	only: 'UNMATCHED' | null = null,
): Promise<GatewayEvent> => {
	if (event.gateway === 'GATEWAY_B') {
		return reapplyEvent(services, event, await paymobApplier(services, event), only);
	}

	const {stripe} = services;
	if (stripe === null) {
		throw gatewayOff();
	}

	return reapplyStripeEvent({services, stripe}, event, (apply) => reapplyEvent(services, event, apply, only));
};
