import {systemCaller} from '../../audit/audit-log.ts';
import {inTransaction} from '../../db/db.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import type {Services} from '../../services.ts';
import {createAttemptStore} from '../attempt-store.ts';
import {isOver} from '../pay-renewal.ts';
import {endSubscription} from '../paymob/fail-renewal.ts';
import {graceEnd, isLive} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {type BillingRun, perOrganization} from './per-organization.ts';

/**
 * Ends a subscription whose period is over, with the plan that is left. Whatever could still be paid for it is
 * superseded, so that a late payment does not bring it back.
 */
export const closeSubscription = ({db, clock}: Pick<Services, 'db' | 'clock'>, organizationId: string): Promise<void> =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const row = await createSubscriptionStore(trx).lockOf(organizationId);
		if (row === null || !isLive(row) || !isOver(row, now)) {
			return;
		}

		await createAttemptStore(trx).supersedeAll(organizationId, now);
		await endSubscription(trx, row, {by: systemCaller, now});
	});

const end = async (services: Services, organizationId: string): Promise<void> => {
	const {db, clock, gateways} = services;
	const find = () => createSubscriptionStore(db).findOf(organizationId);
	const before = await find();
	const isLongOver = graceEnd(before?.currentPeriodEnd ?? clock.now()) <= clock.now();
	// A charge that nobody has answered for is asked for first, though not for ever.
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

/**
 * Ends the subscriptions of gateway B, and those that ops had set, that were canceled and whose period is over. Gateway
 * A ends its own.
 */
export const endPeriods = async (run: BillingRun): Promise<void> => {
	const {services} = run;
	const store = createSubscriptionStore(services.db);
	const now = services.clock.now();
	const ids = await store.listEnding(['GATEWAY_B', 'MANUAL'], now);
	await perOrganization(run, 'end a subscription', ids, (organizationId) => end(services, organizationId));
};
