import {gatewayEventNotFound, gatewayOff, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {createGatewayEventStore, type GatewayEvent} from './gateway-event-store.ts';
import {recordPaymobEvent} from './paymob/receive-callback.ts';
import {recordStripeEvent} from './stripe/receive-event.ts';
import type {GatewayName} from './subscription.ts';

/** The dependencies of operations that may apply events. */
export type BillingServices = Pick<
	Services,
	'config' | 'db' | 'clock' | 'log' | 'background' | 'gateways' | 'stripe' | 'paymob'
>;

/** Most events of one replay. */
const BATCH = 100;

const replay = async (
	services: BillingServices,
	event: GatewayEvent,
	{onlyUnmatched}: {onlyUnmatched: boolean},
): Promise<GatewayEvent> => {
	const {stripe, paymob} = services;
	const entry = {replay: event, onlyUnmatched};
	if (event.gateway === 'GATEWAY_A' && stripe !== null) {
		return recordStripeEvent({...services, stripe}, JSON.parse(event.payload), entry);
	}

	if (event.gateway === 'GATEWAY_B' && paymob !== null) {
		return recordPaymobEvent(paymob, event, entry);
	}

	throw gatewayOff();
};

/** @throws 404. */
export const requireEvent = async ({db}: Pick<Services, 'db'>, id: string): Promise<GatewayEvent> => {
	return required(await createGatewayEventStore(db).find(id), gatewayEventNotFound);
};

/** Applies an event of the ledger again, whatever its outcome was. @throws 404, 502, 503. */
export const replayEvent = async (services: BillingServices, id: string): Promise<GatewayEvent> =>
	replay(services, await requireEvent(services, id), {onlyUnmatched: false});

/**
 * Applies UNMATCHED events again (contract/billing 9).
 * @param reference what was stored just now; null: whatever matches by now. A failure is logged and tried next time.
 */
export const replayUnmatched = async (
	services: BillingServices,
	gateway: GatewayName,
	reference: string | null,
): Promise<void> => {
	for (const event of await createGatewayEventStore(services.db).listUnmatched(gateway, reference, BATCH)) {
		try {
			await replay(services, event, {onlyUnmatched: true});
		} catch (error) {
			services.log.error({err: error, eventId: event.id}, 'an unmatched event could not be applied');
		}
	}
};
