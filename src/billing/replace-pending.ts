import type {Services} from '../services.ts';
import {FALLBACK_PLAN} from './apply-subscription.ts';
import type {Gateway} from './gateway.ts';
import type {Subscription} from './subscription.ts';

/** Puts back at the gateway what the row says that will happen when the period ends. */
const putBack = async (gateway: Gateway, subscription: Subscription): Promise<void> => {
	const {cancelAtPeriodEnd, scheduledPlan} = subscription;
	if (cancelAtPeriodEnd) {
		await gateway.setCancelAtPeriodEnd(subscription, true);
	} else if (scheduledPlan !== null && scheduledPlan !== FALLBACK_PLAN) {
		await gateway.scheduleDowngrade(subscription, scheduledPlan);
	}
};

/**
 * Runs calls to a gateway that take back a scheduled downgrade or a cancellation on their way to something else. Where
 * they fail it is put back, best effort, so that nobody who has canceled pays on because of an upgrade that failed.
 * @throws what the calls threw, 502.
 */
export const replacePending = async <T>(
	{log}: Pick<Services, 'log'>,
	gateway: Gateway,
	subscription: Subscription,
	calls: () => Promise<T>,
): Promise<T> => {
	try {
		return await calls();
	} catch (error) {
		await putBack(gateway, subscription).catch((failure: unknown) =>
			log.error(
				{err: failure, organizationId: subscription.organizationId},
				'a change scheduled for the end of the period may be lost at the gateway',
			),
		);
		throw error;
	}
};
