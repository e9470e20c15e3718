import type {Clock} from '../../../src/platform/clock.ts';
import {type DirectFetch, type Reply, startGatewayServer} from '../gateway/http-server.ts';
import {createWebhookQueue, type GatewayEvent, type WebhookQueue} from '../gateway/webhook-queue.ts';
import {type Call, createFaults, type Fault, type FaultInput} from '../identity-provider/faults.ts';
import {answerApi, failureReply} from './api.ts';
import {answerPage} from './checkout-page.ts';
import {hmacOf} from './hmac.ts';
import {findIntention} from './intentions.ts';
import {
	type CardBehavior,
	type Charge,
	createMerchant,
	defaultSettings,
	type Intention,
	type Keys,
	type Merchant,
	randomToken,
	type SavedCard,
	type Settings,
	type Transaction,
} from './merchant.ts';
import {notFound} from './paymob-errors.ts';
import {refund, voidPayment} from './refunds.ts';
import {type Card, newTransaction, type Outcome, saveCard, settleTransaction, TEST_CARD} from './transactions.ts';

export type {Charge, SavedCard, Transaction};

/** A callback; `object` is `obj` of its body, as it was when it happened. */
export type PaymobEvent = GatewayEvent & {object: Transaction | SavedCard};

export type FakePaymobOptions = {
	/** The one of the service under test. */
	clock: Clock;
	/** 0 picks a free one. */
	port?: number;
	keys?: Partial<Keys>;
	/** Whether charges of saved cards are enabled for the account: then `env` names the integration. */
	hasMoto?: boolean;
	settings?: Partial<Settings>;
	/** More paths, as the development server has; null: none of them. */
	more?: (call: Call) => Reply | null;
};

/** An order by its id, reference, intention or client secret. */
export type OrderRef = string | number;

export type PayOptions = {
	card?: Card;
	/** The customer ticks "save card"; a token: of a card that was saved before; its event is sent again. */
	saveCard?: boolean | string;
};

export type FakePaymob = Pick<
	WebhookQueue<PaymobEvent>,
	'events' | 'history' | 'sign' | 'send' | 'deliver' | 'deliverTogether' | 'onEvent'
> & {
	url: string;
	/** Calls it without a socket, for a test that makes very many calls. */
	fetch: DirectFetch;
	/** The variables that make a service use it. */
	env: Record<string, string>;
	/** The customer pays at the hosted checkout. An order that is paid already can be paid again. */
	pay(order: OrderRef, options?: PayOptions): Transaction;
	/** The card is refused there; the order stays payable. */
	decline(order: OrderRef, card?: Card): Transaction;
	/** The customer is at the bank's page; `settle` says what became of it. */
	startPaying(order: OrderRef, card?: Card): Transaction;
	/** What became of a transaction that is pending. */
	settle(transactionId: number, succeeded: boolean): Transaction;
	/** What a saved card does when it is charged next. */
	setCard(token: string, behavior: CardBehavior): void;
	/** In the dashboard: gives a payment back, whole unless an amount is given. */
	refund(transactionId: number, amount?: number): Transaction;
	void(transactionId: number): Transaction;
	/**
	 * A callback of the test's making, signed like the others when it is sent; for tampered ones, pass on a changed
	 * `object` of another event.
	 */
	event(type: 'TRANSACTION' | 'TOKEN', object: Transaction | SavedCard): PaymobEvent;
	/** The collected callbacks of an order, oldest first. */
	eventsAbout(order: OrderRef): PaymobEvent[];
	/** Makes next calls fail. With `hang` or `drop` and `afterwards` a charge happens, and only its callback reports it. */
	fail(fault: FaultInput): Fault;
	clearFaults(): void;
	/** Every request so far, oldest first. */
	calls: Call[];
	/** All money that was taken, oldest first, with what was given back. */
	charges: Charge[];
	/** What it knows, for reading, and `settings` for writing. */
	merchant: Merchant;
	stop(): Promise<void>;
};

const newCallback = (type: string, object: Transaction | SavedCard, receiver: string | null): PaymobEvent => {
	const obj = structuredClone(object);
	const more = type === 'TRANSACTION' ? {issuer_bank: null, transaction_processed_callback_responses: ''} : {};
	return {id: randomToken('cb_'), type, body: JSON.stringify({type, obj, ...more}), object: obj, receiver};
};

/** What the customer does, and the dashboard. */
const peopleOf = (merchant: Merchant) => {
	const find = (ref: OrderRef): Intention => {
		const intention = findIntention(merchant, ref);
		if (intention === undefined) {
			throw notFound();
		}

		return intention;
	};
	const attempt = (ref: OrderRef, outcome: Outcome, card = TEST_CARD): Transaction =>
		newTransaction(merchant, find(ref), {integration: merchant.integrations.card, card, outcome});
	return {
		find,
		pay: (ref: OrderRef, {card = TEST_CARD, saveCard: save = false}: PayOptions = {}) => {
			const transaction = attempt(ref, 'works', card);
			if (save !== false) {
				saveCard(merchant, find(ref), card, save === true ? undefined : save);
			}

			return transaction;
		},
		decline: (ref: OrderRef, card?: Card) => attempt(ref, 'declines', card),
		startPaying: (ref: OrderRef, card?: Card) => attempt(ref, 'pending', card),
		settle: (id: number, succeeded: boolean) => settleTransaction(merchant, id, succeeded),
		refund: (id: number, amount?: number) => {
			const {amount_cents: all = 0, refunded_amount_cents: before = 0} = merchant.transactions.get(id) ?? {};
			return refund(merchant, id, amount ?? all - before);
		},
		void: (id: number) => voidPayment(merchant, id),
	};
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
	more = () => null,
}: FakePaymobOptions): Promise<FakePaymob> => {
	const keys: Keys = {
		secretKey: randomToken('egy_sk_test_'),
		publicKey: randomToken('egy_pk_test_'),
		apiKey: randomToken('ZXlKaGJHY2lPaUpJVXpVeE1pSX'),
		hmacSecret: randomToken(''),
		...givenKeys,
	};
	const {events, history, sign, send, deliver, deliverTogether, onEvent, add} = createWebhookQueue<PaymobEvent>({
		path: '/webhook/gateway-b',
		sign: ({object}, {secret = keys.hmacSecret} = {}) => ({query: {hmac: hmacOf(object, secret)}}),
	});
	const merchant = createMerchant({
		clock,
		keys,
		settings: {...defaultSettings, ...settings},
		integrations: {card: 4_000_001, moto: 4_000_002},
		emit: (type, object, receiver) => add(newCallback(type, object, receiver)),
	});
	const faults = createFaults();
	const calls: Call[] = [];
	const server = await startGatewayServer({
		answer: (call) =>
			/^\/(?:v1|api)\//.test(call.path) ? answerApi(merchant, call) : (more(call) ?? answerPage(merchant, call)),
		failure: (_, fault) => failureReply(fault),
		faults,
		calls,
		port,
	});
	merchant.url = server.url;
	const {find, ...people} = peopleOf(merchant);

	return {
		...{events, history, sign, send, deliver, deliverTogether, onEvent},
		...people,
		url: server.url,
		fetch: server.fetch,
		env: {
			PAYMOB_SECRET_KEY: keys.secretKey,
			PAYMOB_PUBLIC_KEY: keys.publicKey,
			PAYMOB_API_KEY: keys.apiKey,
			PAYMOB_HMAC_SECRET: keys.hmacSecret,
			PAYMOB_CARD_INTEGRATION_ID: String(merchant.integrations.card),
			...(hasMoto ? {PAYMOB_MOTO_INTEGRATION_ID: String(merchant.integrations.moto)} : {}),
			PAYMOB_API_URL: server.url,
			PAYMOB_CHECKOUT_URL: `${server.url}/unifiedcheckout/`,
		},
		setCard: (token, behavior) => {
			merchant.cards.set(token, behavior);
		},
		event: (type, object) => newCallback(type, object, null),
		eventsAbout: (ref) => {
			const {orderId} = find(ref);
			return events.filter(({object}) =>
				'token' in object ? object.order_id === String(orderId) : object.order.id === orderId,
			);
		},
		fail: faults.add,
		clearFaults: faults.clear,
		calls,
		charges: merchant.charges,
		merchant,
		stop: server.stop,
	};
};
