import type {Background} from '../../../platform/background.ts';
import type {Db} from '../../../platform/db/db.ts';
import {invalidWebhookSignature} from '../../../platform/errors.ts';
import {isStorable, isTooDeep} from '../../../platform/http/storable.ts';
import {fieldsOf, parseJson} from '../../../platform/http/untrusted-json.ts';
import type {Metrics} from '../../../platform/metrics/metrics.ts';
import {createAttemptStore} from '../attempt-store.ts';
import type {GatewayRequest} from '../gateway.ts';
import {createGatewayEventStore, type Decision, type GatewayEvent, type IncomingEvent} from '../gateway-event-store.ts';
import {type Apply, decision, type LedgerEntry, recordEvent} from '../ledger.ts';
import {createPaymentMethodStore} from '../payment-method-store.ts';
import {applyTransaction} from './apply-transaction.ts';
import type {Paymob} from './paymob.ts';
import {isHmac, signedSubscriptionText, signedText, TOKEN_FIELDS, TRANSACTION_FIELDS} from './paymob-hmac.ts';
import {
	cardKey,
	type PaymobCard,
	type PaymobTransaction,
	readCard,
	readTransaction,
	transactionKey,
} from './paymob-payloads.ts';
import {refundPayments} from './refund-payments.ts';

const GATEWAY = 'GATEWAY_B';

type Kind = 'TRANSACTION' | 'TOKEN' | 'SUBSCRIPTION';

/** The kind of a body with a valid HMAC (contract/billing 22, contract/billing 24, contract/billing 26). @throws 400. */
const verifiedKind = (secret: string | null, body: unknown, hmac: unknown): Kind => {
	const {type, obj, trigger_type: trigger, hmac: own} = fieldsOf(body);
	if (secret !== null && type === 'TRANSACTION' && isHmac(hmac, secret, signedText(obj, TRANSACTION_FIELDS))) {
		return 'TRANSACTION';
	}

	if (secret !== null && type === 'TOKEN' && isHmac(hmac, secret, signedText(obj, TOKEN_FIELDS))) {
		return 'TOKEN';
	}

	const isModule = type === undefined && typeof trigger === 'string';
	if (secret !== null && isModule && isHmac(own, secret, signedSubscriptionText(body))) {
		return 'SUBSCRIPTION';
	}

	throw invalidWebhookSignature();
};

/** Far longer than the two values are; the key must fit into an index. */
const MAX_KEY = 255;

/** @returns null for an invalid object. @param payload the text that `body` was read from. */
const eventOf = ({cards}: Paymob, type: Kind, body: unknown, payload: string): IncomingEvent | null => {
	if (type === 'TRANSACTION') {
		const transaction = readTransaction(body);
		return transaction === null
			? null
			: {gateway: GATEWAY, eventKey: transactionKey(transaction), type, reference: transaction.orderId, payload};
	}

	if (type === 'TOKEN') {
		const card = readCard(body);
		return card === null
			? null
			: {gateway: GATEWAY, eventKey: cardKey(card), type, reference: card.orderId, payload: cards.seal(payload)};
	}

	// Only these two values are signed, so only they may distinguish two of them.
	const signed = signedSubscriptionText(body);
	return signed.length <= MAX_KEY && isStorable(signed)
		? {gateway: GATEWAY, eventKey: `sub:${signed}`, type, reference: null, payload}
		: null;
};

/** Saves a card for the organization of its order (contract/billing 24); the e-mail address proves nothing. */
const applyCard = async ({cards, clock, log}: Paymob, trx: Db, card: PaymobCard): Promise<Decision> => {
	const {orderId, brand, last4, token} = card;
	const attempt = await createAttemptStore(trx).findByRef(GATEWAY, orderId);
	if (attempt === null) {
		log.warn({orderId}, 'a saved card of Paymob has no attempt');
		return {outcome: 'UNMATCHED', reason: `No attempt has the order ${orderId}.`};
	}

	const {organizationId, id: attemptId} = attempt;
	await createPaymentMethodStore(trx).save(
		organizationId,
		{brand, last4, token, sealed: cards.seal(token)},
		clock.now(),
	);
	return {outcome: 'APPLIED', reason: 'The card is saved.', organizationId, attemptId};
};

/**
 * The payment as Paymob has it now, because neither the refunded amount is signed nor the field in which a refund names
 * its payment. @returns null if Paymob cannot be asked.
 */
const confirmed = async (
	{client, db, log}: Paymob,
	transaction: PaymobTransaction,
): Promise<PaymobTransaction | null> => {
	const attempt = await createAttemptStore(db).findByRef(GATEWAY, transaction.orderId);
	const paymentId = transaction.hasParent ? (attempt?.transactionId ?? null) : transaction.id;
	if (attempt === null || paymentId === null) {
		return transaction;
	}

	try {
		const now = readTransaction(await client.transaction(paymentId));
		return now?.orderId === transaction.orderId ? now : null;
	} catch (error) {
		log.warn({err: error, transactionId: paymentId}, 'a refund could not be confirmed with Paymob');
		return null;
	}
};

const decideTransaction = async (paymob: Paymob, transaction: PaymobTransaction): Promise<Apply> => {
	const isRefund = transaction.isRefunded || (transaction.hasParent && transaction.success);
	if (!isRefund) {
		return (trx) => applyTransaction(paymob, trx, transaction);
	}

	const state = await confirmed(paymob, transaction);
	return state === null && transaction.hasParent
		? decision('REVIEW', 'A refund or a void could not be confirmed with the gateway.')
		: (trx: Db) => applyTransaction(paymob, trx, state ?? transaction);
};

/** Decides the change that an event makes, asking Paymob before the transaction. */
const decide = async (paymob: Paymob, {type, payload}: Pick<IncomingEvent, 'type' | 'payload'>): Promise<Apply> => {
	if (type === 'TRANSACTION') {
		const transaction = readTransaction(parseJson(payload));
		return transaction === null
			? decision('IGNORED', 'It is not a transaction.')
			: decideTransaction(paymob, transaction);
	}

	if (type === 'TOKEN') {
		const opened = paymob.cards.open(payload);
		const card = opened === null ? null : readCard(parseJson(opened));
		return card === null
			? decision('REVIEW', 'The saved card cannot be decrypted.')
			: (trx) => applyCard(paymob, trx, card);
	}

	return decision('IGNORED', 'Subscriptions managed by the gateway are not used.');
};

/** Decides the change that an event makes, and records it. */
export const recordPaymobEvent = async (
	paymob: Paymob,
	event: IncomingEvent,
	entry: LedgerEntry = {delivery: event},
): Promise<GatewayEvent> => recordEvent(paymob, entry, await decide(paymob, event));

/**
 * Records and applies Paymob's answer to an inquiry as if it were a callback, under the same key (contract/billing 25). It
 * came over our own connection, so it needs no HMAC.
 */
export const receiveAnswer = async (paymob: Paymob, kind: 'TRANSACTION' | 'TOKEN', obj: unknown): Promise<void> => {
	const body = {type: kind, obj};
	const event = eventOf(paymob, kind, body, JSON.stringify(body));
	if (event !== null) {
		await recordPaymobEvent(paymob, event);
	}
};

/** When Paymob created the object; null without an offset, because the time zone is then unknown. */
const createdAt = (body: unknown): Date | null => {
	const {created_at: at} = fieldsOf(fieldsOf(body).obj);
	return typeof at === 'string' && /(?:Z|[+-]\d\d:\d\d)$/.test(at) ? new Date(at) : null;
};

/** Receives a callback of Paymob. @throws 400 for an invalid HMAC; 5xx if nothing was recorded. */
export const receivePaymobCallback = async (
	paymob: Paymob,
	{background, metrics}: {background: Background; metrics: Metrics},
	{rawBody, query}: Pick<GatewayRequest, 'rawBody' | 'query'>,
): Promise<void> => {
	const text = rawBody.toString('utf8');
	const body = parseJson(text);
	// Only some fields are signed: anybody could add values too deep to store to a genuine callback.
	if (isTooDeep(body)) {
		throw invalidWebhookSignature();
	}

	const kind = verifiedKind(paymob.config.hmacSecret, body, query['hmac']);
	metrics.webhook('gateway_b', createdAt(body));
	const event = eventOf(paymob, kind, body, text);
	if (event === null) {
		paymob.log.warn({kind}, 'invalid callback from Paymob');
		return;
	}

	if ((await createGatewayEventStore(paymob.db).countRepetition(event)) !== null) {
		return;
	}

	const {outcome} = await recordPaymobEvent(paymob, event);
	if (outcome === 'REVIEW') {
		background.run('refund payments', refundPayments(paymob));
	}
};
