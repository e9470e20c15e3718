import type {Logger} from 'pino';
import type {Clock} from '../../../platform/clock.ts';
import type {PaymobConfig} from '../../../platform/config/config.ts';
import {gatewayFailed, required} from '../../../platform/errors.ts';
import {fieldsOf} from '../../../platform/http/untrusted-json.ts';
import {cutText} from '../../../platform/text.ts';
import {createPaymobHttp, type PaymobAnswer, type PaymobCall} from './paymob-http.ts';
import {readTransaction, unwrapped} from './paymob-payloads.ts';

/** The bearer token expires after 60 minutes. */
const TOKEN_MINUTES = 50;

type IntentionOrder = {
	integrationId: string;
	/** Minor units of EGP. */
	amount: number;
	title: string;
	/** Must be new: Paymob's handling of a repeated one is unknown. */
	reference: string;
	organizationId: string;
	attemptId: string;
	payer: {name: string; email: string | null};
	notificationUrl: string;
	returnUrl: string;
	expirationSeconds: number;
};

/** `paymentKey` charges a saved card, `clientSecret` opens the checkout page. */
export type Intention = {id: string; orderId: string; clientSecret: string; paymentKey: string};

/** UNKNOWN: the card must not be charged again without an inquiry. */
type PayOutcome = 'PAID' | 'DECLINED' | 'UNKNOWN';

const isSuccess = ({status}: PaymobAnswer): boolean => status >= 200 && status < 300;
const isRefusal = ({status}: PaymobAnswer): boolean => status >= 400 && status < 500 && status !== 429;

/** For required fields that Oplink does not have. */
const UNKNOWN = 'NA';
const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? `${value}` : '');

const readIntention = (body: unknown): Intention | null => {
	const {id, client_secret: clientSecret, intention_order_id: orderId, payment_keys: keys} = fieldsOf(body);
	const [key] = Array.isArray(keys) ? (keys as unknown[]) : [];
	const read = {
		id: textOf(id),
		orderId: textOf(orderId),
		clientSecret: textOf(clientSecret),
		paymentKey: textOf(fieldsOf(key).key),
	};
	return read.orderId === '' || read.clientSecret === '' ? null : read;
};

const intentionBody = (order: IntentionOrder): object => {
	const {amount, title, payer, reference, attemptId} = order;
	return {
		amount,
		currency: 'EGP',
		payment_methods: [Number(order.integrationId)],
		items: [{name: cutText(title, 50), amount, description: title, quantity: 1}],
		billing_data: {
			first_name: cutText(payer.name, 50) || UNKNOWN,
			last_name: UNKNOWN,
			email: payer.email ?? UNKNOWN,
			phone_number: UNKNOWN,
		},
		special_reference: reference,
		extras: {orgId: order.organizationId, attemptId},
		expiration: order.expirationSeconds,
		notification_url: order.notificationUrl,
		redirection_url: order.returnUrl,
	};
};

/** Requests to Paymob, with its secret key or, for inquiries, a token that is kept until it ends. */
class PaymobRequests {
	readonly send: ReturnType<typeof createPaymobHttp>;
	readonly secret: string;
	readonly #apiKey: string | null;
	readonly #clock: Clock;
	#bearer: {token: string; until: Date} | null = null;

	constructor({config, clock, log}: {config: PaymobConfig; clock: Clock; log: Logger}) {
		this.send = createPaymobHttp({apiUrl: config.apiUrl, log});
		this.secret = `Token ${config.secretKey}`;
		this.#apiKey = config.apiKey;
		this.#clock = clock;
	}

	/** @throws 502 without an answer that `accepts` allows. */
	async ask(call: PaymobCall, accepts: (answer: PaymobAnswer) => boolean = isSuccess): Promise<PaymobAnswer> {
		const answer = await this.send(call);
		if (answer === null || !accepts(answer)) {
			throw gatewayFailed(new Error(`Paymob: ${call.path} ${answer?.status ?? 'no answer'}`));
		}

		return answer;
	}

	/**
	 * An inquiry, with a new token if Paymob rejects the present one.
	 * @param bodyWith of a POST; absent: a GET. @returns null for a 404.
	 */
	async inquire(path: string, bodyWith?: (token: string) => object): Promise<unknown> {
		const accepts = (answer: PaymobAnswer) => isSuccess(answer) || [401, 404].includes(answer.status);
		const askWith = (token: string) => {
			const authorization = `Bearer ${token}`;
			const call = bodyWith === undefined ? {method: 'GET' as const} : {method: 'POST' as const, body: bodyWith(token)};
			return this.ask({path, authorization, ...call}, accepts);
		};
		let answer = await askWith(await this.#bearerToken());
		if (answer.status === 401) {
			this.#bearer = null;
			answer = await askWith(await this.#bearerToken());
		}

		if (answer.status === 401) {
			throw gatewayFailed(new Error('Paymob rejected the API key'));
		}

		return answer.status === 404 ? null : answer.body;
	}

	/** Voids or refunds. @returns false if Paymob refuses. */
	async undo(path: string, body: object): Promise<boolean> {
		const call = {method: 'POST', path, authorization: this.secret, body} as const;
		const answer = await this.ask(call, (one) => isSuccess(one) || isRefusal(one));
		const {success} = unwrapped(answer.body);
		return isSuccess(answer) && success !== false;
	}

	async #bearerToken(): Promise<string> {
		const now = this.#clock.now();
		if (this.#bearer === null || this.#bearer.until <= now) {
			if (this.#apiKey === null) {
				throw gatewayFailed(new Error('Paymob: PAYMOB_API_KEY is not set, so payments cannot be queried'));
			}

			const {body} = await this.ask({
				method: 'POST',
				path: '/api/auth/tokens',
				authorization: null,
				body: {api_key: this.#apiKey},
			});
			this.#bearer = {token: textOf(fieldsOf(body).token), until: new Date(now.getTime() + TOKEN_MINUTES * 60_000)};
		}

		return this.#bearer.token;
	}
}

/**
 * The calls to Paymob (contract/billing 19). Each throws `gatewayFailed` (502) if Paymob fails, refuses or does not
 * answer, unless stated otherwise. Charges are never retried here.
 */
export const createPaymobClient = (given: {config: PaymobConfig; clock: Clock; log: Logger}) => {
	const paymob = new PaymobRequests(given);

	return {
		createIntention: async (order: IntentionOrder): Promise<Intention> => {
			const {body} = await paymob.ask({
				method: 'POST',
				path: '/v1/intention/',
				authorization: paymob.secret,
				body: intentionBody(order),
			});
			return required(readIntention(body), () => gatewayFailed(new Error('Paymob: an intention without an order')));
		},

		/** Charges a saved card. It never throws. */
		pay: async (paymentKey: string, token: string): Promise<PayOutcome> => {
			const answer = await paymob.send({
				method: 'POST',
				path: '/api/acceptance/payments/pay',
				authorization: null,
				body: {source: {identifier: token, subtype: 'TOKEN'}, payment_token: paymentKey},
			});
			if (answer === null || !(isSuccess(answer) || isRefusal(answer))) {
				return 'UNKNOWN';
			}

			const {success, pending} = unwrapped(answer.body);
			if (isRefusal(answer) || (success === false && pending !== true)) {
				return 'DECLINED';
			}

			return success === true && pending === false ? 'PAID' : 'UNKNOWN';
		},

		/** Voids a payment on its day. @returns false if Paymob refuses. */
		void: (transactionId: string): Promise<boolean> =>
			paymob.undo('/api/acceptance/void_refund/void', {transaction_id: Number(transactionId)}),

		/** Refunds a payment. @param amount minor units. @returns false if Paymob refuses. */
		refund: (transactionId: string, amount: number): Promise<boolean> =>
			paymob.undo('/api/acceptance/void_refund/refund', {transaction_id: Number(transactionId), amount_cents: amount}),

		/** The latest transaction of an order in the shape of a callback; null if there is none. */
		latestOfOrder: async (orderId: string): Promise<unknown> => {
			const body = await paymob.inquire('/api/ecommerce/orders/transaction_inquiry', () => ({order_id: orderId}));
			return readTransaction(body)?.orderId === orderId ? unwrapped(body) : null;
		},

		/** The present state of a transaction; null if it does not exist. */
		transaction: async (id: string): Promise<unknown> => {
			const body = await paymob.inquire(`/api/acceptance/transactions/${encodeURIComponent(id)}`);
			return readTransaction(body)?.id === id ? unwrapped(body) : null;
		},

		/** The cards saved with an order, in the shape of callbacks. */
		cardsOfOrder: async (orderId: string): Promise<unknown[]> => {
			const order = {order_id: Number(orderId)};
			const body = await paymob.inquire('/api/acceptance/order_card_tokens', (token) => ({
				auth_token: token,
				...order,
			}));
			return Array.isArray(body) ? body.map(unwrapped) : [];
		},
	};
};

export type PaymobClient = ReturnType<typeof createPaymobClient>;
