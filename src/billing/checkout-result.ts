import type {Checkout} from './gateway.ts';
import type {GatewayName} from './gateway-name.ts';
import {type Subscription, subscriptionJson} from './subscription.ts';

/** What a checkout or a change of plan came to (contract/billing 2, contract/billing 3). */
export type CheckoutAction =
	| 'CHECKOUT'
	| 'UPGRADED'
	| 'UPGRADE_CHECKOUT'
	| 'SCHEDULED_DOWNGRADE'
	| 'DOWNGRADE_CANCELLED';
export type CheckoutSessionResult = {
	action: CheckoutAction;
	gateway: GatewayName | 'MANUAL';
	checkoutUrl: string | null;
	sessionId: string | null;
	subscription: ReturnType<typeof subscriptionJson>;
};

export const checkoutResult = (
	action: CheckoutAction,
	subscription: Subscription,
	{gateway, checkout}: {gateway: CheckoutSessionResult['gateway']; checkout: Checkout | null},
): CheckoutSessionResult => ({
	action,
	gateway,
	checkoutUrl: checkout?.url ?? null,
	sessionId: checkout?.sessionId ?? null,
	subscription: subscriptionJson(subscription),
});
