import {systemCaller} from '../../audit/audit-log.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import {cancelSubscription} from '../cancel-subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import type {BillingRun} from './per-organization.ts';

/**
 * Lets the subscriptions of suspended organizations end with their period, at the gateway too (contract/billing 9).
 * Best effort: what fails is tried again with the next run. One that is activated again can resume.
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
