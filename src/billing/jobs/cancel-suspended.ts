import {systemCaller} from '../../audit/audit-log.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import {cancelSubscription} from '../cancel-subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import type {BillingRun} from './per-organization.ts';

/**
 * Cancels the subscriptions of suspended organizations at the end of their period (contract/billing 9). A failure is
 * tried again with the next run. An organization that is activated again can resume.
 */
export const cancelSuspended = async ({services, isStopping}: BillingRun): Promise<void> => {
	const {db, log} = services;
	for (const organizationId of await createSubscriptionStore(db).listSuspended()) {
		if (isStopping()) {
			return;
		}

		try {
			const organization = await createOrganizationStore(db).findById(organizationId);
			if (organization?.status === 'SUSPENDED') {
				await cancelSubscription(services, {organization, by: systemCaller});
			}
		} catch (error) {
			log.warn({err: error, organizationId}, 'the subscription of a suspended organization could not be canceled');
		}
	}
};
