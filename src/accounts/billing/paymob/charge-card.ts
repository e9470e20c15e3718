import {randomUUID} from 'node:crypto';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Payer} from '../gateway.ts';
import {createPaymentMethodStore} from '../payment-method-store.ts';
import {CHECKOUT_MINUTES} from './inquire-attempt.ts';
import type {Paymob} from './paymob.ts';
import type {Intention} from './paymob-client.ts';
import {readTransaction} from './paymob-payloads.ts';

type ChargeOutcome = 'ACCEPTED' | 'DECLINED' | 'UNANSWERED';

/** The purchased item, as Paymob shows it. */
const titleOf = ({purpose, plan}: BillingAttempt): string =>
	purpose === 'UPGRADE' ? `Change to ${plan}` : `${plan} monthly`;

/** An order at Paymob for an attempt. @param reference must be new. @throws 502. */
export const createOrder = (
	{client, notificationUrl, returnUrl}: Paymob,
	attempt: BillingAttempt,
	{payer, integrationId, reference}: {payer: Payer; integrationId: string; reference: string},
): Promise<Intention> =>
	client.createIntention({
		integrationId,
		reference,
		amount: attempt.amount,
		title: titleOf(attempt),
		organizationId: attempt.organizationId,
		attemptId: attempt.id,
		payer,
		notificationUrl,
		returnUrl,
		expirationSeconds: CHECKOUT_MINUTES * 60,
	});

/** The newest saved card and the integration that charges it; null if either is missing. */
export const chargeableCard = async (
	{config, cards, db}: Paymob,
	organizationId: string,
): Promise<{integrationId: string; token: string} | null> => {
	const {motoIntegrationId: integrationId} = config;
	const saved = integrationId === null ? null : await createPaymentMethodStore(db).findNewest(organizationId);
	const token = saved === null ? null : cards.open(saved.token);
	return integrationId === null || token === null ? null : {integrationId, token};
};

/** The outcome by an inquiry, after an answer was lost. */
const outcomeAtGateway = async ({client}: Paymob, orderId: string): Promise<ChargeOutcome> => {
	const latest = readTransaction(await client.latestOfOrder(orderId).catch(() => null));
	if (latest === null || latest.pending) {
		return 'UNANSWERED';
	}

	return latest.success ? 'ACCEPTED' : 'DECLINED';
};

/**
 * Charges a saved card without the customer (contract/billing 21). The order and the charge are stored first, so that
 * after a crash Paymob is asked before anything is charged again. The outcome changes nothing here; only a callback or
 * an inquiry does. @throws 502 if no card was charged.
 */
export const chargeCard = async (
	paymob: Paymob,
	attempt: BillingAttempt,
	payer: Payer,
	card: {integrationId: string; token: string},
): Promise<ChargeOutcome> => {
	const {client, db, clock} = paymob;
	// After a crash the attempt needs another order, and references must not repeat.
	const reference = `${attempt.id}.${randomUUID().slice(0, 8)}`;
	const order = await createOrder(paymob, attempt, {payer, integrationId: card.integrationId, reference});
	const refs = {gatewayRef: order.orderId, gatewayRef2: order.id};
	if (!(await createAttemptStore(db).claimCharge(attempt, refs, clock.now()))) {
		return 'UNANSWERED';
	}

	const outcome = await client.pay(order.paymentKey, card.token);
	if (outcome === 'UNKNOWN') {
		return outcomeAtGateway(paymob, order.orderId);
	}

	return outcome === 'PAID' ? 'ACCEPTED' : 'DECLINED';
};
