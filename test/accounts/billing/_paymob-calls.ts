import {createHmac} from 'node:crypto';
import type {ExecutionContext} from 'ava';
import {type FakePaymob, type FakePaymobOptions, type PaymobEvent, startFakePaymob} from '../../fakes/paymob/paymob.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';

export type Answer = {status: number; body: Record<string, unknown>};

const MOTO = {payment_methods: [4_000_002], items: []};

/** A body that the gateway accepts (contract/billing 20), changed by `changes`. */
const intentionBody = (changes: object): object => ({
	amount: 380_000,
	currency: 'EGP',
	payment_methods: [4_000_001],
	items: [{name: 'GROWTH monthly', amount: 380_000, description: 'Plan GROWTH', quantity: 1}],
	billing_data: {first_name: 'Mona', last_name: 'NA', email: 'owner@acme.test', phone_number: '+200000000000'},
	special_reference: 'att_1',
	extras: {attemptId: 'att_1'},
	expiration: 3600,
	...changes,
});

/** A call as the service makes it. `authorization` is the whole header. */
export const call = async ({url}: FakePaymob, path: string, body: object | null, authorization?: string) => {
	const response = await fetch(new URL(path, url), {
		method: body === null ? 'GET' : 'POST',
		headers: {'content-type': 'application/json', ...(authorization !== undefined && {authorization})},
		...(body !== null && {body: JSON.stringify(body)}),
	});
	return {status: response.status, body: await response.json()} as Answer;
};

/** The fake, and the calls that tests make. */
export const startPaymob = async (t: ExecutionContext, options: Omit<FakePaymobOptions, 'clock'> = {}) => {
	const clock = createFakeClock();
	const fake = await startedIn(t, startFakePaymob({clock, ...options}));
	const secret = `Token ${fake.env['PAYMOB_SECRET_KEY']}`;
	const createIntention = (changes: object = {}) => call(fake, '/v1/intention/', intentionBody(changes), secret);
	return {
		clock,
		fake,
		/** The header of calls with the secret key. */
		secret,
		call: (path: string, body: object | null, authorization?: string) => call(fake, path, body, authorization),
		createIntention,
		/** Makes and pays an intention, and saves the card. @returns its token. */
		saveCard: async (): Promise<string> => {
			await createIntention();
			fake.pay('att_1', {saveCard: true});
			return [...fake.merchant.savedCards.keys()].at(-1) ?? '';
		},
		/** Pays another intention with a saved card, without the customer. */
		paySaved: async (token: string, reference: string): Promise<Answer> => {
			const {body} = await createIntention({...MOTO, special_reference: reference});
			const [first] = body['payment_keys'] as Array<{key: string}>;
			const source = {identifier: token, subtype: 'TOKEN'};
			return call(fake, '/api/acceptance/payments/pay', {source, payment_token: first?.key});
		},
		/** `?hmac=` of an event by our own reading of its body. */
		expectedHmac: ({body}: PaymobEvent): string =>
			createHmac('sha512', fake.env['PAYMOB_HMAC_SECRET'] ?? '')
				.update(signedText(body))
				.digest('hex'),
	};
};

const TRANSACTION_FIELDS =
	'amount_cents, created_at, currency, error_occured, has_parent_transaction, id, integration_id, is_3d_secure, ' +
	'is_auth, is_capture, is_refunded, is_standalone_payment, is_voided, order.id, owner, pending, source_data.pan, ' +
	'source_data.sub_type, source_data.type, success';
const CARD_FIELDS = 'card_subtype, created_at, email, id, masked_pan, merchant_id, order_id, token';

/** The text that contract/billing 22, contract/billing 24 sign, read off the body by the dotted names of their lists. */
export const signedText = (body: string): string => {
	const {type, obj} = JSON.parse(body) as {type: string; obj: object};
	const names = (type === 'TOKEN' ? CARD_FIELDS : TRANSACTION_FIELDS).split(', ');
	return names
		.map((name) => name.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), obj) ?? '')
		.join('');
};
