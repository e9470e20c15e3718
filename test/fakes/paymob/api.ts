import type {Reply} from '../gateway/http-server.ts';
import type {Call, FaultInput} from '../identity-provider/faults.ts';
import {matchPath} from '../identity-provider/match-path.ts';
import {type Fields, integerIn, isFields, readFields, refuseFaults, textIn} from './fields.ts';
import {createIntention, findIntention, presentIntention} from './intentions.ts';
import {type Intention, type Merchant, randomToken, type Transaction} from './merchant.ts';
import {noCredentials, notFound, notPossible, PaymobError, wrongApiKey, wrongCredentials} from './paymob-errors.ts';
import {refund, voidPayment} from './refunds.ts';
import {newTransaction, readTransaction} from './transactions.ts';

const TOKEN_MINUTES = 60;

type Params = Record<string, string>;
type Route = {
	method: 'GET' | 'POST';
	path: string;
	/** What `Authorization` has to carry. */
	credential: 'secret key' | 'bearer' | 'none';
	handle(merchant: Merchant, body: Fields, params: Params): {status?: number; json: unknown};
};

const integer = (body: Fields, name: string): number => {
	const faults: Fields = {};
	const value = integerIn(body, name, faults, [1, Number.MAX_SAFE_INTEGER]);
	refuseFaults(faults);
	return value;
};

/** `POST /api/acceptance/payments/pay`: a saved card is charged without the customer (contract/billing 21). */
const paySaved: Route['handle'] = (merchant, body) => {
	const faults: Fields = {};
	const key = textIn(body, 'payment_token', faults, {required: true});
	refuseFaults(faults);
	const source = isFields(body['source']) ? body['source'] : {};
	const saved = merchant.savedCards.get(String(source['identifier']));
	const intention = [...merchant.intentions.values()].find(({paymentKeys}) =>
		[...paymentKeys.values()].includes(key ?? ''),
	);
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
	const transaction = newTransaction(merchant, intention, {integration: moto, card, outcome});
	return {json: merchant.settings.payAnswer === 'wrapped' ? {type: 'TRANSACTION', obj: transaction} : transaction};
};

const requireIntention = (merchant: Merchant, name: unknown): Intention => {
	const intention = findIntention(merchant, String(name));
	if (intention === undefined) {
		throw notFound();
	}

	return intention;
};

/** The latest transaction of an order, which may be a refund of an earlier one. */
const inquire = (merchant: Merchant, {order_id, merchant_order_id}: Fields): Transaction => {
	const {orderId} = requireIntention(merchant, order_id ?? merchant_order_id);
	const latest = [...merchant.transactions.values()].filter(({order}) => order.id === orderId).at(-1);
	if (latest === undefined) {
		throw notFound();
	}

	return latest;
};

const routes: Route[] = [
	{
		method: 'POST',
		path: '/v1/intention/',
		credential: 'secret key',
		handle: (merchant, body) => ({status: 201, json: presentIntention(merchant, createIntention(merchant, body))}),
	},
	{
		method: 'GET',
		path: '/v1/intention/element/:publicKey/:clientSecret/',
		credential: 'none',
		handle: (merchant, _, {clientSecret}) => ({
			json: presentIntention(merchant, requireIntention(merchant, clientSecret)),
		}),
	},
	{method: 'POST', path: '/api/acceptance/payments/pay', credential: 'none', handle: paySaved},
	{
		method: 'POST',
		path: '/api/acceptance/void_refund/refund',
		credential: 'secret key',
		handle: (merchant, body) => ({
			json: refund(merchant, integer(body, 'transaction_id'), integer(body, 'amount_cents')),
		}),
	},
	{
		method: 'POST',
		path: '/api/acceptance/void_refund/void',
		credential: 'secret key',
		handle: (merchant, body) => ({json: voidPayment(merchant, integer(body, 'transaction_id'))}),
	},
	{
		method: 'POST',
		path: '/api/auth/tokens',
		credential: 'none',
		handle: (merchant, {api_key: apiKey}) => {
			if (apiKey !== merchant.keys.apiKey) {
				throw wrongApiKey();
			}

			const token = randomToken('ZXlKaGJHY2lP');
			merchant.authTokens.set(token, new Date(merchant.now().getTime() + TOKEN_MINUTES * 60_000));
			return {status: 201, json: {token, profile: {id: merchant.profileId}}};
		},
	},
	{
		method: 'POST',
		path: '/api/ecommerce/orders/transaction_inquiry',
		credential: 'bearer',
		handle: (merchant, body) => ({json: inquire(merchant, body)}),
	},
	{
		method: 'GET',
		path: '/api/acceptance/transactions/:id',
		credential: 'bearer',
		handle: (merchant, _, {id}) => ({json: readTransaction(merchant, Number(id))}),
	},
	{
		method: 'POST',
		path: '/api/acceptance/order_card_tokens',
		credential: 'none',
		handle: (merchant, {auth_token: token, order_id: orderId}) => {
			requireBearer(merchant, String(token));
			const saved = [...merchant.savedCards.values()].filter(({order_id}) => order_id === String(orderId));
			return {json: saved.map((obj) => ({type: 'TOKEN', obj}))};
		},
	},
];

const requireBearer = (merchant: Merchant, token: string): void => {
	const until = merchant.authTokens.get(token);
	if (until === undefined || merchant.now() >= until) {
		throw wrongCredentials();
	}
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
	for (const {method, path, credential, handle} of routes) {
		const params = method === call.method ? matchPath(path, call.path) : null;
		if (params !== null) {
			checkCredential(merchant, credential, call.headers['authorization']);
			const body = method === 'GET' ? {} : readFields(call.body, call.headers['content-type']);
			call.body = method === 'GET' ? call.body : body;
			const {status = 200, json} = handle(merchant, body, params);
			return {status, json};
		}
	}

	throw notFound();
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
