import type Stripe from 'stripe';
import {createAttemptStore} from '../attempt-store.ts';
import type {RemoteSubscription} from './read-subscription.ts';
import type {Place} from './subscription-state.ts';

const UPGRADE = 'subscription_update';

/**
 * Settles what was asked for by an upgrade: the invoice of one that is in force is paid, the invoice of one that nobody
 * paid in time is void. An attempt whose answer was lost has no invoice noted, and is known by its plan.
 * @returns the attempt that was paid.
 */
export const settleUpgrades = async (
	{trx, organizationId, now}: Place,
	remote: RemoteSubscription,
	paid: Stripe.Invoice[],
): Promise<string | null> => {
	const attempts = createAttemptStore(trx);
	let settled: string | null = null;
	for (const {id, billing_reason: reason} of paid) {
		const isNew = reason === UPGRADE && id && (await attempts.findByTransaction('GATEWAY_A', id)) === null;
		const attempt = isNew ? await attempts.lockUpgrade(organizationId, {invoiceId: id, plan: remote.plan}) : null;
		if (isNew && attempt !== null) {
			await attempts.update(organizationId, attempt.id, {status: 'PAID', transactionId: id}, now);
			settled = attempt.id;
		}
	}

	const {latestInvoice: latest} = remote;
	if (latest?.id && latest.status === 'void') {
		const attempt = await attempts.lockByRef('GATEWAY_A', latest.id);
		if (attempt?.status === 'OPEN') {
			await attempts.update(organizationId, attempt.id, {status: 'EXPIRED'}, now);
		}
	}

	return settled;
};
