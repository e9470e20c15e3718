import {gatewayOff} from '../../errors.ts';
import type {Services} from '../../services.ts';
import type {GatewayEvent} from '../gateway-event-store.ts';
import type {Apply} from '../ledger.ts';

/** What applies a stored event of gateway B again. */
export const paymobApplier = async (_services: Services, _event: GatewayEvent): Promise<Apply> => {
	throw gatewayOff();
};
