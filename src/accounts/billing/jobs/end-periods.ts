import {inTransaction} from '../../../platform/db/db.ts';
import {systemCaller} from '../../audit/audit-log.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import {createAttemptStore} from '../attempt-store.ts';
import {isOver} from '../pay-renewal.ts';
import {endSubscription} from '../paymob/fail-renewal.ts';
import type {BillingServices} from '../replay-events.ts';
import {graceEnd, isLive} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {type BillingRun, perOrganization} from './per-organization.ts';

/**
 * Ends a subscription whose period is over. Its open attempts are superseded, so that a late payment does not revive it.
 */
export const closeSubscription = (
	{db, clock}: Pick<BillingServices, 'db' | 'clock'>,
	organizationId: string,
): Promise<void> =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const row = await createSubscriptionStore(trx).lockOf(organizationId);
		if (row === null || !isLive(row) || !isOver(row, now)) {
			return;
		}

		await createAttemptStore(trx).supersedeAll(organizationId, now);
		await endSubscription(trx, row, {by: systemCaller, now});
	});

const end = async (services: BillingServices, organizationId: string): Promise<void> => {
	const {db, clock, gateways} = services;
	const find = () => createSubscriptionStore(db).findOf(organizationId);
	const before = await find();
	const isLongOver = graceEnd(before?.currentPeriodEnd ?? clock.now()) <= clock.now();
	// Charges without an answer are settled first, but not for longer than the grace.
	await gateways.GATEWAY_B?.settleCharges?.(organizationId).catch((error: unknown) => {
		if (!isLongOver) {
			throw error;
		}
	});
	const row = await find();
	const organization = await createOrganizationStore(db).findById(organizationId);
	if (row !== null && row.gateway !== 'GATEWAY_A' && (row.cancelAtPeriodEnd || organization?.status !== 'ACTIVE')) {
		await closeSubscription(services, organizationId);
	}
};

/** Ends canceled subscriptions of Paymob and of ops whose period is over. Stripe ends its own. */
export const endPeriods = async (run: BillingRun): Promise<void> => {
	const {services} = run;
	const store = createSubscriptionStore(services.db);
	const now = services.clock.now();
	const ids = await store.listEnding(['GATEWAY_B', 'MANUAL'], now);
	await perOrganization(run, 'end a subscription', ids, (organizationId) => end(services, organizationId));
};
