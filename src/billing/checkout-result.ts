import type {Checkout} from './gateway.ts';
import {type GatewayName, type Subscription, subscriptionJson} from './subscription.ts';

/** The result of a checkout or a change of plan (contract/billing 2, contract/billing 3). */
export type CheckoutSessionResult = {
	action: 'CHECKOUT' | 'UPGRADED' | 'UPGRADE_CHECKOUT' | 'SCHEDULED_DOWNGRADE' | 'DOWNGRADE_CANCELLED';
	gateway: GatewayName | 'MANUAL';
	checkoutUrl: string | null;
	sessionId: string | null;
	subscription: ReturnType<typeof subscriptionJson>;
};

export const checkoutResult = (
	action: CheckoutSessionResult['action'],
	subscription: Subscription,
	gateway: CheckoutSessionResult['gateway'],
	checkout: Checkout | null = null,
): CheckoutSessionResult => ({
	action,
	gateway,
	checkoutUrl: checkout?.url ?? null,
	sessionId: checkout?.sessionId ?? null,
	subscription: subscriptionJson(subscription),
});
