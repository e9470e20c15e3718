import {withLeaseIfFree} from '../../db/lease.ts';
import type {Services} from '../../services.ts';
import {billingLease} from '../billing-lease.ts';

/** A run of the jobs: it ends early where the service stops. */
export type BillingRun = {services: Services; isStopping: () => boolean};

/**
 * Runs `work` for one organization after the other, under its billing lease; one that somebody else works on is left to
 * them. What fails is logged and tried again with the next run.
 */
export const perOrganization = async (
	{services, isStopping}: BillingRun,
	what: string,
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
			services.log.warn({err: error, organizationId}, `could not ${what}`);
		}
	}
};
