import type {Clock} from '../../../src/platform/clock.ts';
import {startServer} from '../shared/http-server.ts';
import {createWebhookQueue, type WebhookEvent} from '../shared/webhook-queue.ts';
import {answerApi, failureReply} from './api.ts';
import {answerPage} from './checkout-page.ts';
import {hmacOf} from './hmac.ts';
import {findIntention} from './intentions.ts';
import {
	type CardBehavior,
	type Charge,
	createMerchant,
	defaultSettings,
	type Keys,
	randomToken,
	type SavedCard,
	type Settings,
} from './merchant.ts';
import {refund, voidPayment} from './refunds.ts';
import {
	type Card,
	newTransaction,
	type Outcome,
	saveCard,
	settleTransaction,
	TEST_CARD,
	type Transaction,
} from './transactions.ts';

export type {Charge, SavedCard, Transaction};

/** A callback; `object` is `obj` of its body, as it was when it happened. */
export type PaymobEvent = WebhookEvent & {object: Transaction | SavedCard};

export type FakePaymobOptions = {
	/** The one of the service under test. */
	clock: Clock;
	/** 0 picks a free one. */
	port?: number;
	keys?: Partial<Keys>;
	/** Whether charges of saved cards are enabled for the account: then `env` names the integration. */
	hasMoto?: boolean;
	settings?: Partial<Settings>;
};

/** An order by its id, reference, intention or client secret. */
export type OrderRef = string | number;

export type FakePaymob = Awaited<ReturnType<typeof startFakePaymob>>;

const newCallback = (type: string, object: Transaction | SavedCard, receiver: string | null): PaymobEvent => {
	const obj = structuredClone(object);
	const more = type === 'TRANSACTION' ? {issuer_bank: null, transaction_processed_callback_responses: ''} : {};
	return {id: randomToken('cb_'), type, body: JSON.stringify({type, obj, ...more}), object: obj, receiver};
};

/**
 * A payment gateway on loopback that speaks the wire format of contract/billing 19 and keeps its state:
 * intentions, the hosted checkout, charges of saved cards, refunds, the inquiry, signed callbacks, and faults on demand.
 */
export const startFakePaymob = async ({
	clock,
	port = 0,
	keys: givenKeys = {},
	hasMoto = true,
	settings = {},
}: FakePaymobOptions) => {
	const keys: Keys = {
		secretKey: randomToken('egy_sk_test_'),
		publicKey: randomToken('egy_pk_test_'),
		apiKey: randomToken('ZXlKaGJHY2lPaUpJVXpVeE1pSX'),
		hmacSecret: randomToken(''),
		...givenKeys,
	};
	const queue = createWebhookQueue<PaymobEvent>('/webhook/gateway-b', ({object}, {secret = keys.hmacSecret} = {}) => ({
		query: {hmac: hmacOf(object, secret)},
	}));
	const merchant = createMerchant({
		clock,
		keys,
		settings: {...defaultSettings, ...settings},
		emit: (type, object, receiver) => queue.add(newCallback(type, object, receiver)),
	});
	const server = await startServer({
		answer: (call) => (/^\/(?:v1|api)\//.test(call.path) ? answerApi(merchant, call) : answerPage(merchant, call)),
		failure: failureReply,
		port,
	});
	merchant.url = server.url;
	const attempt = (ref: OrderRef, outcome: Outcome, card = TEST_CARD): Transaction =>
		newTransaction(merchant, findIntention(merchant, ref), {integration: merchant.integrations.card, card, outcome});
	const env: Record<string, string> = {
		PAYMOB_SECRET_KEY: keys.secretKey,
		PAYMOB_PUBLIC_KEY: keys.publicKey,
		PAYMOB_API_KEY: keys.apiKey,
		PAYMOB_HMAC_SECRET: keys.hmacSecret,
		PAYMOB_CARD_INTEGRATION_ID: String(merchant.integrations.card),
		...(hasMoto ? {PAYMOB_MOTO_INTEGRATION_ID: String(merchant.integrations.moto)} : {}),
		PAYMOB_API_URL: server.url,
		PAYMOB_CHECKOUT_URL: `${server.url}/unifiedcheckout/`,
	};

	return {
		...queue,
		...server,
		/** The variables that make a service use it. */
		env,
		/**
		 * The customer pays at the hosted checkout. An order that is paid already can be paid again.
		 * @param options `saveCard`: the customer ticks "save card"; a token: of a card that was saved before, whose event
		 *   is sent again.
		 */
		pay: (order: OrderRef, options: {card?: Card; saveCard?: boolean | string} = {}): Transaction => {
			const {card = TEST_CARD, saveCard: save = false} = options;
			const transaction = attempt(order, 'works', card);
			if (save !== false) {
				saveCard(merchant, findIntention(merchant, order), card, save === true ? undefined : save);
			}

			return transaction;
		},
		/** The card is refused there; the order stays payable. */
		decline: (order: OrderRef, card?: Card): Transaction => attempt(order, 'declines', card),
		/** The customer is at the bank's page; `settle` says what became of it. */
		startPaying: (order: OrderRef, card?: Card): Transaction => attempt(order, 'pending', card),
		/** What became of a transaction that is pending. */
		settle: (transactionId: number, succeeded: boolean): Transaction =>
			settleTransaction(merchant, transactionId, succeeded),
		/** In the dashboard: gives a payment back, whole unless an amount is given. */
		refund: (id: number, amount?: number): Transaction => {
			const {amount_cents: all = 0, refunded_amount_cents: before = 0} = merchant.transactions.get(id) ?? {};
			return refund(merchant, id, amount ?? all - before);
		},
		void: (transactionId: number): Transaction => voidPayment(merchant, transactionId),
		/** What a saved card does when it is charged next. */
		setCard: (token: string, behavior: CardBehavior): void => void merchant.cards.set(token, behavior),
		/**
		 * A callback of the test's making, signed like the others when it is sent; for tampered ones, pass on a changed
		 * `object` of another event.
		 */
		event: (type: 'TRANSACTION' | 'TOKEN', object: Transaction | SavedCard) => newCallback(type, object, null),
		/** The collected callbacks of an order, oldest first. */
		eventsAbout: (order: OrderRef): PaymobEvent[] => {
			const {orderId} = findIntention(merchant, order);
			return queue.events.filter(({object}) =>
				'token' in object ? object.order_id === String(orderId) : object.order.id === orderId,
			);
		},
		/** All money that was taken, oldest first, with what was given back. */
		charges: merchant.charges,
		/** What it knows, for reading, and `settings` for writing. */
		merchant,
	};
};
