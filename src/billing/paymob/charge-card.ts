import {randomUUID} from 'node:crypto';
import type {BillingAttempt} from '../attempt-store.ts';
import type {Payer} from '../gateway.ts';
import {createPaymentMethodStore} from '../payment-method-store.ts';
import {createChargeStore} from './charge-store.ts';
import {CHECKOUT_MINUTES} from './inquire-attempt.ts';
import type {Paymob} from './paymob.ts';
import type {Intention} from './paymob-client.ts';
import {readTransaction} from './paymob-payloads.ts';

export type ChargeOutcome = 'ACCEPTED' | 'DECLINED' | 'UNANSWERED';

/** What is bought, as the gateway shows it. */
const titleOf = ({purpose, plan}: BillingAttempt): string =>
	purpose === 'UPGRADE' ? `Change to ${plan}` : `${plan} monthly`;

/** An order at the gateway for what an attempt asks for. @param reference fresh each time. @throws 502. */
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

/** What charges saved cards, and the newest one; null where the account may not, or there is none. */
export const chargeableCard = async (
	{config, cards, db}: Paymob,
	organizationId: string,
): Promise<{integrationId: string; token: string} | null> => {
	const {motoIntegrationId: integrationId} = config;
	const saved = integrationId === null ? null : await createPaymentMethodStore(db).findNewest(organizationId);
	const token = saved === null ? null : cards.open(saved.token);
	return integrationId === null || token === null ? null : {integrationId, token};
};

/** What an inquiry right after a lost answer says. */
const outcomeAtGateway = async ({client}: Paymob, orderId: string): Promise<ChargeOutcome> => {
	const latest = readTransaction(await client.latestOfOrder(orderId).catch(() => null));
	if (latest === null || latest.pending) {
		return 'UNANSWERED';
	}

	return latest.success ? 'ACCEPTED' : 'DECLINED';
};

/**
 * Charges a saved card without the customer (contract/paymob 3). The order is stored before the card is charged,
 * and that it is charged is written down with it: whoever comes after a crash asks before anybody charges again. The
 * outcome changes nothing here; only the gateway's callback, or an inquiry, grants something.
 * @throws 502 where no card was charged.
 */
export const chargeCard = async (
	paymob: Paymob,
	attempt: BillingAttempt,
	payer: Payer,
	card: {integrationId: string; token: string},
): Promise<ChargeOutcome> => {
	const {client, db, clock} = paymob;
	// After a crash the same attempt needs another order, and references must not repeat.
	const reference = `${attempt.id}.${randomUUID().slice(0, 8)}`;
	const order = await createOrder(paymob, attempt, {payer, integrationId: card.integrationId, reference});
	const refs = {gatewayRef: order.orderId, gatewayRef2: order.id};
	if (!(await createChargeStore(db).claim(attempt, refs, clock.now()))) {
		return 'UNANSWERED';
	}

	const outcome = await client.pay(order.paymentKey, card.token);
	if (outcome === 'UNKNOWN') {
		return outcomeAtGateway(paymob, order.orderId);
	}

	return outcome === 'PAID' ? 'ACCEPTED' : 'DECLINED';
};
