import Joi from 'joi';
import type {Call, FaultInput} from '../shared/faults.ts';
import type {Reply} from '../shared/http-server.ts';
import {findRoute} from '../shared/routes.ts';
import {check, type Fields, isFields, readFields, requiredInteger, requiredText} from './fields.ts';
import {createIntention, findIntention, presentIntention} from './intentions.ts';
import {type Merchant, randomToken} from './merchant.ts';
import {noCredentials, notFound, notPossible, PaymobError, wrongApiKey, wrongCredentials} from './paymob-errors.ts';
import {refund, voidPayment} from './refunds.ts';
import {newTransaction, readTransaction, type Transaction} from './transactions.ts';

const TOKEN_MINUTES = 60;

type Route = {
	/** What `Authorization` has to carry. */
	credential: 'secret key' | 'bearer' | 'none';
	status?: number;
	/** What is answered as JSON. */
	handle(merchant: Merchant, body: Fields, params: Record<string, string>): unknown;
};

const undoSchema = Joi.object<{transaction_id: number; amount_cents: number}>({
	transaction_id: requiredInteger(1, Number.MAX_SAFE_INTEGER),
});
const refundSchema = undoSchema.append({amount_cents: requiredInteger(1, Number.MAX_SAFE_INTEGER)});
const paySchema = Joi.object<{payment_token: string}>({payment_token: requiredText()});

/** `POST /api/acceptance/payments/pay`: a saved card is charged without the customer (contract/billing 21). */
const paySaved: Route['handle'] = (merchant, body) => {
	const {payment_token: key} = check(paySchema, body);
	const source = isFields(body['source']) ? body['source'] : {};
	const saved = merchant.savedCards.get(String(source['identifier']));
	const intention = [...merchant.intentions.values()].find(({paymentKeys}) => [...paymentKeys.values()].includes(key));
	if (intention === undefined) {
		throw wrongCredentials();
	}

	const {moto} = merchant.integrations;
	if (intention.paymentKeys.get(moto) !== key) {
		throw notPossible('This integration needs the customer.');
	}

	if (source['subtype'] !== 'TOKEN' || saved === undefined) {
		throw notPossible('Invalid card token.');
	}

	const card = {pan: saved.masked_pan.slice(-4), brand: saved.card_subtype};
	const outcome = merchant.cards.get(saved.token) ?? 'works';
	return newTransaction(merchant, intention, {integration: moto, card, outcome});
};

/** The latest transaction of an order, which may be a refund of an earlier one. */
const inquire = (merchant: Merchant, {order_id, merchant_order_id}: Fields): Transaction => {
	const {orderId} = findIntention(merchant, order_id ?? merchant_order_id);
	const latest = [...merchant.transactions.values()].filter(({order}) => order.id === orderId).at(-1);
	if (latest === undefined) {
		throw notFound();
	}

	return latest;
};

const requireBearer = (merchant: Merchant, token: string): void => {
	const until = merchant.authTokens.get(token);
	if (until === undefined || merchant.now() >= until) {
		throw wrongCredentials();
	}
};

const login = (merchant: Merchant, {api_key: apiKey}: Fields): object => {
	if (apiKey !== merchant.keys.apiKey) {
		throw wrongApiKey();
	}

	const token = randomToken('ZXlKaGJHY2lP');
	merchant.authTokens.set(token, new Date(merchant.now().getTime() + TOKEN_MINUTES * 60_000));
	return {token, profile: {id: merchant.profileId}};
};

const cardTokens = (merchant: Merchant, {auth_token: token, order_id: orderId}: Fields): object[] => {
	requireBearer(merchant, String(token));
	const saved = [...merchant.savedCards.values()].filter(({order_id}) => order_id === String(orderId));
	return saved.map((obj) => ({type: 'TOKEN', obj}));
};

const routes: Record<string, Route> = {
	'POST /v1/intention/': {
		credential: 'secret key',
		status: 201,
		handle: (merchant, body) => presentIntention(merchant, createIntention(merchant, body)),
	},
	'POST /api/acceptance/payments/pay': {credential: 'none', handle: paySaved},
	'POST /api/acceptance/void_refund/refund': {
		credential: 'secret key',
		handle: (merchant, body) => {
			const {transaction_id: id, amount_cents: amount} = check(refundSchema, body);
			return refund(merchant, id, amount);
		},
	},
	'POST /api/acceptance/void_refund/void': {
		credential: 'secret key',
		handle: (merchant, body) => voidPayment(merchant, check(undoSchema, body).transaction_id),
	},
	'POST /api/auth/tokens': {credential: 'none', status: 201, handle: login},
	'POST /api/ecommerce/orders/transaction_inquiry': {credential: 'bearer', handle: inquire},
	'GET /api/acceptance/transactions/:id': {
		credential: 'bearer',
		handle: (merchant, _, {id}) => readTransaction(merchant, Number(id)),
	},
	'POST /api/acceptance/order_card_tokens': {credential: 'none', handle: cardTokens},
};

const checkCredential = (merchant: Merchant, credential: Route['credential'], given: unknown): void => {
	if (credential === 'none') {
		return;
	}

	const [scheme, value] = String(given ?? '').split(' ');
	if (scheme !== (credential === 'bearer' ? 'Bearer' : 'Token') || value === undefined) {
		throw noCredentials();
	}

	if (credential === 'bearer') {
		requireBearer(merchant, value);
	} else if (value !== merchant.keys.secretKey) {
		throw wrongCredentials();
	}
};

const respond = (merchant: Merchant, call: Call): Reply => {
	const route = findRoute(routes, call);
	if (route === null) {
		throw notFound();
	}

	const {credential, status = 200, handle} = route.handle;
	checkCredential(merchant, credential, call.headers['authorization']);
	if (call.method === 'POST') {
		call.body = readFields(call.body, call.headers['content-type']);
	}

	return {status, json: handle(merchant, isFields(call.body) ? call.body : {}, route.params)};
};

/** The API of the gateway (contract/billing 19). */
export const answerApi = (merchant: Merchant, call: Call): Reply => {
	try {
		return respond(merchant, call);
	} catch (error) {
		return error instanceof PaymobError
			? {status: error.status, json: error.body}
			: {status: 500, json: {detail: String(error)}};
	}
};

/** What a fault says instead of the answer; 500 unless it says a status. */
export const failureReply = ({status = 500, message = 'Server error'}: FaultInput): Reply => ({
	status,
	json: {detail: message},
});
