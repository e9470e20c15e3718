import type {Currency} from '../../platform/config/plans.ts';
import type {Db} from '../../platform/db/db.ts';
import {workUnderWay} from '../../platform/errors.ts';
import {type Caller, recordAudit} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {type AttemptPurpose, attemptEntry, type BillingAttempt, createAttemptStore} from './attempt-store.ts';
import type {BillingServices, Checkout, Gateway, Payer} from './gateway.ts';
import type {PlanForSale} from './plan-for-sale.ts';
import type {Subscription} from './subscription.ts';

export const payerOf = (organization: Organization, subscription: Subscription | null): Payer => ({
	organizationId: organization.id,
	name: organization.name,
	email: organization.contactEmail,
	customerId: subscription?.gatewayCustomerId ?? null,
});

/**
 * Runs a call to a gateway for an attempt. If the call fails, the attempt is closed as FAILED, unless a saved card may have
 * been charged for it: then the gateway's event decides. @throws the call's error, 502.
 */
export const callForAttempt = async <T>(
	{db, clock, log}: Pick<BillingServices, 'db' | 'clock' | 'log'>,
	attempt: BillingAttempt,
	call: () => Promise<T>,
): Promise<T> => {
	try {
		return await call();
	} catch (error) {
		await createAttemptStore(db)
			.closeUncharged(attempt, {status: 'FAILED', lastError: 'The gateway did not answer'}, clock.now())
			.catch((failure: unknown) => log.error({err: failure, attemptId: attempt.id}, 'an attempt could not be closed'));
		throw error;
	}
};

/** Closes superseded checkouts, if the gateway can. One that is paid nevertheless is refunded later. */
export const closeSuperseded = (
	{gateways, background}: Pick<BillingServices, 'gateways' | 'background'>,
	attempts: BillingAttempt[],
): void => {
	for (const attempt of attempts) {
		const gateway = gateways[attempt.gateway];
		if (gateway !== null) {
			background.run('close a superseded checkout', gateway.closeCheckout(attempt));
		}
	}
};

export type AttemptOrder = {
	organizationId: string;
	gateway: Gateway;
	purpose: AttemptPurpose;
	plan: PlanForSale;
	currency: Currency;
	/** Minor units. */
	amount: number;
	/** The period that it pays, wholly or in part. */
	periodStart?: Date | null;
	periodEnd?: Date | null;
	retry?: number;
};

export const newAttempt = async (
	db: Db,
	{gateway, plan, ...order}: AttemptOrder,
	now: Date,
): Promise<BillingAttempt> => {
	const priceId = gateway.priceOf(plan.plan);
	const attempt = await createAttemptStore(db).insert({...order, gateway: gateway.name, plan: plan.name, priceId}, now);
	// The same attempt of a renewal exists: the index excludes it, the lease does not.
	if (attempt === null) {
		throw workUnderWay();
	}

	return attempt;
};

/** A new attempt and its hosted checkout. @throws 409, 502. */
export const openAttempt = async (
	services: Pick<BillingServices, 'db' | 'clock' | 'log'>,
	order: AttemptOrder,
	payer: Payer,
): Promise<{attempt: BillingAttempt; checkout: Checkout}> => {
	const attempt = await newAttempt(services.db, order, services.clock.now());
	return {attempt, checkout: await callForAttempt(services, attempt, () => order.gateway.openCheckout(attempt, payer))};
};

/** Stores an attempt's checkout with an audit record, in the caller's transaction. */
export const recordCheckout = async (
	trx: Db,
	{organizationId, id, plan, currency, amount, gateway}: BillingAttempt,
	{ref, intention}: Checkout,
	{by, now}: {by: Caller; now: Date},
): Promise<void> => {
	await createAttemptStore(trx).update(organizationId, id, {gatewayRef: ref, gatewayRef2: intention}, now);
	await recordAudit(trx, now, by, attemptEntry('OPEN', {id, organizationId}, {plan, currency, amount, gateway}));
};
