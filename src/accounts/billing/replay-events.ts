import {gatewayEventNotFound, required} from '../../platform/errors.ts';
import {type BillingServices, requireGateway} from './gateway.ts';
import {createGatewayEventStore, type GatewayEvent} from './gateway-event-store.ts';
import type {GatewayName} from './subscription.ts';

/** The maximum of events of one replay. */
const BATCH = 100;

/** @throws 502, 503. */
const replay = async (
	services: BillingServices,
	event: GatewayEvent,
	{onlyUnmatched}: {onlyUnmatched: boolean},
): Promise<GatewayEvent> =>
	requireGateway(services, event.gateway).replay(services, event, {replay: event, onlyUnmatched});

/** @throws 404. */
export const requireEvent = async ({db}: Pick<BillingServices, 'db'>, id: string): Promise<GatewayEvent> => {
	return required(await createGatewayEventStore(db).find(id), gatewayEventNotFound);
};

/** Applies an event of the ledger again, whatever its outcome was. @throws 404, 502, 503. */
export const replayEvent = async (services: BillingServices, id: string): Promise<GatewayEvent> =>
	replay(services, await requireEvent(services, id), {onlyUnmatched: false});

/**
 * Applies UNMATCHED events again (contract/billing 9).
 * @param reference the reference stored just now; null: any that an attempt matches by now. A failure is logged and retried next time.
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
