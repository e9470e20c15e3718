import type {Background} from '../../background.ts';
import type {Db} from '../../db/db.ts';
import {gatewayOff, invalidWebhookSignature} from '../../errors.ts';
import {isTooDeep} from '../../http/too-deep.ts';
import type {Metrics} from '../../metrics/metrics.ts';
import {createAttemptStore} from '../attempt-store.ts';
import type {GatewayEvent, IncomingEvent, Verdict} from '../gateway-event-store.ts';
import {type Apply, countRepetition, receiveEvent} from '../ledger.ts';
import {applyCard} from './apply-card.ts';
import {applyTransaction} from './apply-transaction.ts';
import {giveBackPayments} from './give-back.ts';
import type {Paymob} from './paymob.ts';
import {isHmac, signedSubscriptionText, signedText, TOKEN_FIELDS, TRANSACTION_FIELDS} from './paymob-hmac.ts';
import {
	cardKey,
	fieldsOf,
	type PaymobTransaction,
	readCard,
	readTransaction,
	transactionKey,
} from './paymob-payloads.ts';

const GATEWAY = 'GATEWAY_B';

/** What the gateway tells, once it is known that it is the gateway that tells it. */
type Kind = 'TRANSACTION' | 'TOKEN' | 'SUBSCRIPTION';

const parsed = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
};

/**
 * The kind of a body whose HMAC is right (contract/paymob 4, contract/paymob 6, contract/paymob 8). @throws 400
 * whatever is wrong with it.
 */
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

/** What the ledger keeps of a transaction. */
const transactionEvent = (transaction: PaymobTransaction, payload: string): IncomingEvent => ({
	gateway: GATEWAY,
	eventKey: transactionKey(transaction),
	type: 'TRANSACTION',
	reference: transaction.orderId,
	payload,
});

const eventOf = ({cards}: Paymob, kind: Kind, body: unknown): IncomingEvent | null => {
	const payload = JSON.stringify(body);
	if (kind === 'TRANSACTION') {
		const transaction = readTransaction(body);
		return transaction === null ? null : transactionEvent(transaction, payload);
	}

	if (kind === 'TOKEN') {
		const card = readCard(body);
		return card === null
			? null
			: {gateway: GATEWAY, eventKey: cardKey(card), type: kind, reference: card.orderId, payload: cards.seal(payload)};
	}

	// Nothing but these two is signed, so nothing else may tell two of them apart.
	return {gateway: GATEWAY, eventKey: `sub:${signedSubscriptionText(body)}`, type: kind, reference: null, payload};
};

const verdict =
	(outcome: Verdict['outcome'], reason: string): Apply =>
	async () => ({outcome, reason});

/**
 * How much was refunded is not signed, and a refund's own transaction names its payment in a field that is not either.
 * So for both the gateway is asked what became of the payment. @returns null where it cannot be asked.
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
		log.warn({err: error, transactionId: paymentId}, 'a refund could not be confirmed with gateway B');
		return null;
	}
};

const applierOfTransaction = async (paymob: Paymob, transaction: PaymobTransaction): Promise<Apply> => {
	const isRefund = transaction.isRefunded || (transaction.hasParent && transaction.success);
	if (!isRefund) {
		return (trx) => applyTransaction(paymob, trx, transaction);
	}

	const state = await confirmed(paymob, transaction);
	return state === null && transaction.hasParent
		? verdict('REVIEW', 'A refund or a void could not be confirmed with the gateway.')
		: (trx: Db) => applyTransaction(paymob, trx, state ?? transaction);
};

/** What applies a stored event. Whatever must be asked of the gateway is asked before the transaction. */
const applierFor = async (paymob: Paymob, {type, payload}: Pick<IncomingEvent, 'type' | 'payload'>): Promise<Apply> => {
	if (type === 'TRANSACTION') {
		const transaction = readTransaction(parsed(payload));
		return transaction === null
			? verdict('IGNORED', 'It is not a transaction.')
			: applierOfTransaction(paymob, transaction);
	}

	if (type === 'TOKEN') {
		const opened = paymob.cards.open(payload);
		const card = opened === null ? null : readCard(parsed(opened));
		return card === null
			? verdict('REVIEW', 'The saved card cannot be decrypted.')
			: (trx) => applyCard(paymob, trx, card);
	}

	return verdict('IGNORED', 'Subscriptions managed by the gateway are not used.');
};

/** What applies an event of the ledger again. @throws 503 where the gateway is off. */
export const paymobApplier = ({paymob}: {paymob: Paymob | null}, event: GatewayEvent): Promise<Apply> => {
	if (paymob === null) {
		throw gatewayOff();
	}

	return applierFor(paymob, event);
};

/**
 * Notes and applies what the gateway itself answered to an inquiry, by the code of the callbacks and under the same
 * keys: it came over our own connection, so that it needs no HMAC (contract/paymob 7).
 */
export const receiveAnswer = async (paymob: Paymob, kind: 'TRANSACTION' | 'TOKEN', obj: unknown): Promise<void> => {
	const event = eventOf(paymob, kind, {type: kind, obj});
	if (event !== null) {
		await receiveEvent(paymob, event, await applierFor(paymob, event));
	}
};

/** When the gateway made what it tells of; null without an offset, because its times are then of no zone that it names. */
const createdAt = (body: unknown): Date | null => {
	const {created_at: at} = fieldsOf(fieldsOf(body).obj);
	return typeof at === 'string' && /(?:Z|[+-]\d\d:\d\d)$/.test(at) ? new Date(at) : null;
};

/** Receives a callback of gateway B. @throws 400 for a bad HMAC; 5xx where nothing was noted. */
export const receivePaymobCallback = async (
	{paymob, background, metrics}: {paymob: Paymob | null; background: Background; metrics: Metrics},
	{rawBody, query}: {rawBody: Buffer; query: {hmac?: unknown}},
): Promise<void> => {
	if (paymob === null) {
		throw invalidWebhookSignature();
	}

	const body = parsed(rawBody.toString('utf8'));
	// Only some fields are signed, and beside those of a genuine callback anybody could send what is too deep to store.
	if (isTooDeep(body)) {
		throw invalidWebhookSignature();
	}

	const kind = verifiedKind(paymob.config.hmacSecret, body, query.hmac);
	metrics.webhook('gateway_b', createdAt(body));
	const event = eventOf(paymob, kind, body);
	if (event === null) {
		paymob.log.warn({kind}, 'invalid callback from gateway B');
		return;
	}

	if ((await countRepetition(paymob, event)) !== null) {
		return;
	}

	const {outcome} = await receiveEvent(paymob, event, await applierFor(paymob, event));
	if (outcome === 'REVIEW') {
		background.run('refund payments', giveBackPayments(paymob));
	}
};
