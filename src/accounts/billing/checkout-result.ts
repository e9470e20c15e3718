import type {Checkout} from './gateway.ts';
import {type Subscription, subscriptionJson} from './subscription.ts';

/** The result of a checkout or a change of plan (contract/billing 2, contract/billing 3). */
export const checkoutResult = (
	action: 'CHECKOUT' | 'UPGRADED' | 'UPGRADE_CHECKOUT' | 'SCHEDULED_DOWNGRADE' | 'DOWNGRADE_CANCELLED',
	subscription: Subscription,
	gateway: Subscription['gateway'],
	checkout: Checkout | null = null,
) => ({
	action,
	gateway,
	checkoutUrl: checkout?.url ?? null,
	sessionId: checkout?.sessionId ?? null,
	subscription: subscriptionJson(subscription),
});

export type CheckoutSessionResult = ReturnType<typeof checkoutResult>;
