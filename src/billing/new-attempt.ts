import type {Db} from '../db/db.ts';
import {workUnderWay} from '../errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Currency} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {type AttemptPurpose, type BillingAttempt, createAttemptStore} from './attempt-store.ts';
import type {Gateway, Payer} from './gateway.ts';
import type {PlanForSale} from './plan-for-sale.ts';
import type {Subscription} from './subscription.ts';

export const payerOf = (organization: Organization, subscription: Subscription | null): Payer => ({
	organizationId: organization.id,
	name: organization.name,
	email: organization.contactEmail,
	customerId: subscription?.gatewayCustomerId ?? null,
});

/**
 * Runs a call to a gateway for an attempt. Where it fails, the attempt is closed as FAILED, unless a saved card was
 * charged for it: then nobody knows, and the gateway's word is waited for. Nothing else was changed.
 * @throws what the gateway threw, 502.
 */
export const callForAttempt = async <T>(
	{db, clock, log}: Pick<Services, 'db' | 'clock' | 'log'>,
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

/** Superseded checkouts are made unusable where the gateway can; one that is paid all the same is dealt with then. */
export const closeSuperseded = (services: Services, attempts: BillingAttempt[]): void => {
	for (const attempt of attempts) {
		const gateway = services.gateways[attempt.gateway];
		if (gateway !== null) {
			services.background.run('close a superseded checkout', gateway.closeCheckout(attempt));
		}
	}
};

/** What is to be paid, and for what. */
export type AttemptOrder = {
	organizationId: string;
	gateway: Gateway;
	purpose: AttemptPurpose;
	plan: PlanForSale;
	currency: Currency;
	/** Minor units. */
	amount: number;
	/** The period that it pays, or pays the rest of. */
	periodStart?: Date | null;
	periodEnd?: Date | null;
	retry?: number;
};

export const newAttempt = async (
	db: Db,
	{gateway, plan, ...order}: AttemptOrder,
	now: Date,
): Promise<BillingAttempt> => {
	const priceId = gateway.name === 'GATEWAY_A' ? plan.plan.stripePrice : null;
	const attempt = await createAttemptStore(db).insert({...order, gateway: gateway.name, plan: plan.name, priceId}, now);
	// The same try of the same renewal: the lease keeps them apart, and the index those that come without one.
	if (attempt === null) {
		throw workUnderWay();
	}

	return attempt;
};
