import {inTransaction} from '../../../platform/db/db.ts';
import {withLeaseIfFree} from '../../../platform/db/lease.ts';
import {systemCaller} from '../../audit/audit-log.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import {billingLease, endSubscription} from '../apply-subscription.ts';
import {createAttemptStore} from '../attempt-store.ts';
import {type BillingRun, type BillingServices, RENEWED_BY_OPLINK} from '../gateway.ts';
import {isOver} from '../pay-renewal.ts';
import {graceEnd, isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';

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

/**
 * Ends a subscription whose period is over. Its open attempts are superseded: a late payment does not revive it.
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

/** The gateways whose periods Oplink ends, also while they are turned off. */
const ENDED_BY_OPLINK: Array<Subscription['gateway']> = ['MANUAL', RENEWED_BY_OPLINK];
const isEndedByOplink = (gateway: Subscription['gateway']): boolean => ENDED_BY_OPLINK.includes(gateway);

const end = async (services: BillingServices, organizationId: string): Promise<void> => {
	const {db, clock, gateways} = services;
	const find = () => createSubscriptionStore(db).findOf(organizationId);
	const before = await find();
	const isLongOver = graceEnd(before?.currentPeriodEnd ?? clock.now()) <= clock.now();
	// Charges without an answer are settled first, but not for longer than the grace.
	// The row may say MANUAL by now: ops set a plan while a charge was under way.
	await gateways[RENEWED_BY_OPLINK]?.renewals?.settleCharges(organizationId).catch((error: unknown) => {
		if (!isLongOver) {
			throw error;
		}
	});
	const row = await find();
	const organization = await createOrganizationStore(db).findById(organizationId);
	if (row !== null && isEndedByOplink(row.gateway) && (row.cancelAtPeriodEnd || organization?.status !== 'ACTIVE')) {
		await closeSubscription(services, organizationId);
	}
};

/** Ends canceled subscriptions whose period is over, if ops set them or their gateway does not end them. */
export const endPeriods = async (run: BillingRun): Promise<void> => {
	const {services} = run;
	const store = createSubscriptionStore(services.db);
	const now = services.clock.now();
	const ids = await store.listToEnd(ENDED_BY_OPLINK, now);
	await perOrganization(run, 'end a subscription', ids, (organizationId) => end(services, organizationId));
};
