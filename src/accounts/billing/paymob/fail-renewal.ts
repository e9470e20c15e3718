import type {Db} from '../../../platform/db/db.ts';
import type {Caller} from '../../audit/audit-log.ts';
import {applySubscription, endSubscription} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import {isLive} from '../subscription.ts';
import {createSubscriptionStore, stateOf} from '../subscription-store.ts';
import {isLastRetry} from './renewal-schedule.ts';

/**
 * Closes an open attempt that failed, in the caller's transaction. A renewal's row becomes PAST_DUE, and CANCELED with the
 * last retry (contract/billing 10).
 */
export const failCharge = async (
	trx: Db,
	attempt: BillingAttempt,
	{reason, by, now}: {reason: string; by: Caller; now: Date},
): Promise<void> => {
	const {organizationId, id, purpose, retry, periodStart} = attempt;
	const row = await createSubscriptionStore(trx).lockOf(organizationId);
	const attempts = createAttemptStore(trx);
	// The gateway's event may have come in the meantime.
	if ((await attempts.lockById('GATEWAY_B', id))?.status !== 'OPEN') {
		return;
	}

	await attempts.update(organizationId, id, {status: 'FAILED', lastError: reason}, now);
	const isOfThisPeriod = row?.currentPeriodEnd?.getTime() === periodStart?.getTime();
	if (purpose !== 'RENEWAL' || row === null || row.gateway !== 'GATEWAY_B' || !isLive(row) || !isOfThisPeriod) {
		return;
	}

	if (isLastRetry(retry)) {
		await endSubscription(trx, row, {by, now});
		return;
	}

	if (row.status === 'ACTIVE') {
		await applySubscription(trx, {
			organizationId,
			state: {...stateOf(row), status: 'PAST_DUE', pastDueAt: now},
			by,
			now,
			action: 'PAST_DUE',
		});
	}
};
