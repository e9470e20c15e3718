import {systemCaller} from '../../audit/audit-log.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import {cancelSubscription} from '../cancel-subscription.ts';
import type {BillingRun, BillingServices, Gateway} from '../gateway.ts';
import {replayUnmatched} from '../replay-events.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {endPeriods} from './end-periods.ts';

/**
 * Cancels the subscriptions of suspended organizations at the end of their period (contract/billing 9). A failure is
 * retried in the next run. An organization that is activated again can resume.
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

/**
 * The jobs of billing, in order: unmatched events, inquiries, ends, renewals, refunds. Processes may run them at once:
 * leases separate organizations, and the database is where a charge is claimed.
 */
export const runBillingJobs = async (services: BillingServices, isStopping = () => false): Promise<void> => {
	const run = {services, isStopping};
	const renewing = Object.values<Gateway | null>(services.gateways).flatMap((gateway) =>
		gateway === null || gateway.renewals === null ? [] : [{name: gateway.name, renewals: gateway.renewals}],
	);
	for (const {name, renewals} of renewing) {
		await replayUnmatched(services, name, null);
		await renewals.inquire(run);
	}

	await cancelSuspended(run);
	await endPeriods(run);
	for (const {renewals} of renewing) {
		await renewals.renew(run);
		await renewals.refund(run);
	}
};
