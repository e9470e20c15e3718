import {planNamed} from '../../../platform/config/plans.ts';
import {inTransaction} from '../../../platform/db/db.ts';
import {systemCaller} from '../../audit/audit-log.ts';
import {createOrganizationStore, type Organization} from '../../organizations/organization-store.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {BillingRun, BillingServices} from '../gateway.ts';
import {closeSubscription, perOrganization} from '../jobs/end-periods.ts';
import {payerOf} from '../new-attempt.ts';
import {isOver} from '../pay-renewal.ts';
import {graceEnd, isLive, nextPeriodOf, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {chargeableCard, chargeCard} from './charge-card.ts';
import type {Paymob} from './paymob.ts';
import {failCharge, nextStep} from './renewal-schedule.ts';

type Renewal = {services: BillingServices; paymob: Paymob; organization: Organization; row: Subscription};

/** A new attempt, on the scheduled plan if any, at its present price. Null if another process has made it. */
const newAttemptOf = (
	{paymob: {db, clock, plans, log}, row}: Renewal,
	number: number,
): Promise<BillingAttempt | null> => {
	const {organizationId} = row;
	const plan = planNamed(plans, row.scheduledPlan ?? row.plan) ?? '';
	const amount = plans[plan]?.prices.EGP ?? 0;
	if (amount === 0) {
		// The operator must set a price; until then the plan ends with its grace.
		log.error({organizationId, plan: row.plan}, 'a subscription cannot be renewed: its plan has no price');
		return Promise.resolve(null);
	}

	const now = clock.now();
	return createAttemptStore(db).insert(
		{
			organizationId,
			gateway: 'GATEWAY_B',
			purpose: 'RENEWAL',
			plan,
			currency: 'EGP',
			amount,
			priceId: null,
			...nextPeriodOf(row, now),
			retry: number,
		},
		now,
	);
};

/** The attempt failed: the row becomes PAST_DUE, or CANCELED with the last one. */
const fail = async ({paymob: {db, clock, log}}: Renewal, attempt: BillingAttempt, reason: string): Promise<void> => {
	const {organizationId, id: attemptId, retry} = attempt;
	log.warn({organizationId, attemptId, retry}, `a renewal failed: ${reason}`);
	await inTransaction(db, (trx) => failCharge(trx, attempt, {reason, by: systemCaller, now: clock.now()}));
};

/**
 * Charges the saved card for an attempt. Only a callback or an inquiry reports the payment. If Paymob does not answer, the attempt
 * has not failed: the next run continues it.
 */
const charge = async (renewal: Renewal, attempt: BillingAttempt): Promise<void> => {
	const {paymob, organization, row} = renewal;
	const card = await chargeableCard(paymob, organization.id);
	if (card === null) {
		await fail(renewal, attempt, 'No saved card can be charged.');
		return;
	}

	if ((await chargeCard(paymob, attempt, payerOf(organization, row), card)) === 'DECLINED') {
		await fail(renewal, attempt, 'The payment was declined.');
	}
};

/**
 * Continues an open attempt. Charged, it waits for a callback or an inquiry (`inquireAttempts`) until the grace ends; not
 * charged, after a crash or an outage, it is charged now.
 */
const resume = async (renewal: Renewal, attempt: BillingAttempt): Promise<void> => {
	const {services, paymob, organization} = renewal;
	const {chargedAt} = attempt;
	if (chargedAt === null) {
		await charge(renewal, attempt);
	} else if (graceEnd(chargedAt) <= paymob.clock.now()) {
		await closeSubscription(services, organization.id);
	}
};

const renew = async (renewal: Renewal): Promise<void> => {
	const {services, paymob, row} = renewal;
	const {db, clock} = paymob;
	const {periodStart} = nextPeriodOf(row, clock.now());
	const attempts = await createAttemptStore(db).listRenewal(row.organizationId, periodStart);
	const step = nextStep(row, attempts, clock.now());
	if (step.does === 'ASK') {
		await resume(renewal, step.attempt);
	} else if (step.does === 'CHARGE') {
		const attempt = await newAttemptOf(renewal, step.number);
		if (attempt !== null) {
			await charge(renewal, attempt);
		}
	} else if (step.does === 'END') {
		await closeSubscription(services, row.organizationId);
	}
};

/**
 * Renews Paymob subscriptions whose period is over (contract/billing 10), unless they are canceled or the organization is
 * not active: these end (`end-periods.ts`).
 */
export const renewSubscriptions = async (paymob: Paymob, run: BillingRun): Promise<void> => {
	const {services} = run;
	const {db, clock} = paymob;
	const ids = await createSubscriptionStore(db).listToRenew('GATEWAY_B', clock.now());
	await perOrganization(run, 'renew a subscription', ids, async (organizationId) => {
		const row = await createSubscriptionStore(db).findOf(organizationId);
		const organization = await createOrganizationStore(db).findById(organizationId);
		const isDue = row !== null && row.gateway === 'GATEWAY_B' && isLive(row) && isOver(row, clock.now());
		if (isDue && !row.cancelAtPeriodEnd && organization?.status === 'ACTIVE') {
			await renew({services, paymob, organization, row});
		}
	});
};
