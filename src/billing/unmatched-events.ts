import type {Services} from '../services.ts';
import {createGatewayEventStore} from './gateway-event-store.ts';
import type {GatewayName} from './gateway-name.ts';
import {reapply} from './receivers.ts';

/** Most events that are looked at again in one go. */
const BATCH = 100;

/**
 * Looks again at events that came before what they belong to was stored (contract/billing 9): of one reference
 * right after it was, of all by the job. One that fails is logged and stays for the next time.
 */
export const reprocessUnmatched = async (
	services: Services,
	gateway: GatewayName,
	reference: string | null,
): Promise<void> => {
	const events = await createGatewayEventStore(services.db).listUnmatched(gateway, reference, BATCH);
	for (const event of events) {
		try {
			await reapply(services, event, 'UNMATCHED');
		} catch (error) {
			services.log.error({err: error, eventId: event.id}, 'an unmatched event could not be applied');
		}
	}
};
