import type {Currency} from '../plans/plans.ts';

export type GatewayName = 'GATEWAY_A' | 'GATEWAY_B';

/** Which gateway takes a currency (contract/billing 1). */
export const gatewayOf: Record<Currency, GatewayName> = {USD: 'GATEWAY_A', EGP: 'GATEWAY_B'};
