import {FALLBACK_PLAN} from './apply-subscription.ts';
import type {BillingServices, Gateway} from './gateway.ts';
import type {Subscription} from './subscription.ts';

/** Restores at the gateway the change that the row has scheduled for the end of the period. */
const restore = async (gateway: Gateway, subscription: Subscription): Promise<void> => {
	const {cancelAtPeriodEnd, scheduledPlan} = subscription;
	if (cancelAtPeriodEnd) {
		await gateway.setCancelAtPeriodEnd(subscription, true);
	} else if (scheduledPlan !== null && scheduledPlan !== FALLBACK_PLAN) {
		await gateway.scheduleDowngrade(subscription, scheduledPlan);
	}
};

/**
 * Runs calls to a gateway that first undo a scheduled downgrade or a cancellation. If they fail, it restores that,
 * best effort: after a failed upgrade a canceled customer must not keep paying.
 * @throws the calls' error, 502.
 */
export const replacePending = async <T>(
	{log}: Pick<BillingServices, 'log'>,
	gateway: Gateway,
	subscription: Subscription,
	calls: () => Promise<T>,
): Promise<T> => {
	try {
		return await calls();
	} catch (error) {
		await restore(gateway, subscription).catch((failure: unknown) =>
			log.error(
				{err: failure, organizationId: subscription.organizationId},
				'a change scheduled for the end of the period may be lost at the gateway',
			),
		);
		throw error;
	}
};
