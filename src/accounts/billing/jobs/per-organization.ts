import {withLeaseIfFree} from '../../../platform/db/lease.ts';
import {billingLease} from '../apply-subscription.ts';
import type {BillingRun} from '../gateway.ts';

/**
 * Runs `work` for each organization under its billing lease; one whose lease is held is skipped. A failure is logged and
 * retried in the next run.
 */
export const perOrganization = async (
	{services, isStopping}: BillingRun,
	action: string,
	organizationIds: readonly string[],
	work: (organizationId: string) => Promise<void>,
): Promise<void> => {
	for (const organizationId of organizationIds) {
		if (isStopping()) {
			return;
		}

		try {
			await withLeaseIfFree(services, billingLease(organizationId), () => work(organizationId));
		} catch (error) {
			services.log.warn({err: error, organizationId}, `could not ${action}`);
		}
	}
};
