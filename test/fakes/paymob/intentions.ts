import {type Fields, integerIn, isFields, refuseFaults, textIn} from './fields.ts';
import {type Intention, type Merchant, randomToken} from './merchant.ts';
import {duplicateReference, noIntegration, notPossible, wrongSum} from './paymob-errors.ts';

/** 36 days, which is also what counts where nothing is said. */
const MAX_EXPIRATION = 3_110_400;
const MAX_AMOUNT = 1_000_000_000;

const checkPerson = (body: Fields, faults: Fields): Fields => {
	const given = body['billing_data'];
	if (!isFields(given)) {
		faults['billing_data'] = ['This field is required.'];
		return {};
	}

	const inner: Fields = {};
	textIn(given, 'first_name', inner, {required: true, limit: 50});
	textIn(given, 'last_name', inner, {required: true, limit: 50});
	textIn(given, 'email', inner, {required: true});
	textIn(given, 'phone_number', inner, {required: true});
	if (Object.keys(inner).length > 0) {
		faults['billing_data'] = inner;
	}

	return given;
};

const checkItems = (body: Fields, faults: Fields): Fields[] => {
	const items = Array.isArray(body['items']) ? body['items'].filter(isFields) : [];
	const inner: Fields = {};
	for (const item of items) {
		textIn(item, 'name', inner, {required: true, limit: 50});
		integerIn(item, 'amount', inner, [0, MAX_AMOUNT]);
	}

	if (Object.keys(inner).length > 0) {
		faults['items'] = inner;
	}

	return items;
};

const checkIntegrations = ({integrations}: Merchant, body: Fields, faults: Fields): number[] => {
	const given: unknown[] = Array.isArray(body['payment_methods']) ? body['payment_methods'] : [];
	const ids = given.filter((id) => typeof id === 'number');
	if (ids.length === 0 || ids.length < given.length) {
		faults['payment_methods'] = ['A list of integration ids, as integers, is required.'];
	}

	const foreign = ids.find((id) => id !== integrations.card && id !== integrations.moto);
	if (foreign !== undefined) {
		throw noIntegration(foreign);
	}

	return ids;
};

const checkCards = ({savedCards}: Merchant, body: Fields, faults: Fields): string[] => {
	const tokens = Array.isArray(body['card_tokens']) ? body['card_tokens'].map(String) : [];
	if (tokens.length > 3) {
		faults['card_tokens'] = ['Ensure this field has no more than 3 elements.'];
	}

	if (tokens.some((token) => !savedCards.has(token))) {
		faults['card_tokens'] = ['Invalid card token.'];
	}

	return tokens;
};

/** `POST /v1/intention/` (contract/billing 20). @throws 400 with the faulty fields, 404, 406, 422. */
export const createIntention = (merchant: Merchant, body: Fields): Intention => {
	const faults: Fields = {};
	const amount = integerIn(body, 'amount', faults, [1, MAX_AMOUNT]);
	const currency = textIn(body, 'currency', faults, {required: true});
	const billingData = checkPerson(body, faults);
	const items = checkItems(body, faults);
	const cardTokens = checkCards(merchant, body, faults);
	const expiration =
		body['expiration'] === undefined ? MAX_EXPIRATION : integerIn(body, 'expiration', faults, [1, MAX_EXPIRATION]);
	const specialReference = textIn(body, 'special_reference', faults);
	const notificationUrl = textIn(body, 'notification_url', faults);
	const redirectionUrl = textIn(body, 'redirection_url', faults);
	const integrations = checkIntegrations(merchant, body, faults);
	refuseFaults(faults);
	if (currency !== 'EGP') {
		throw notPossible(`The integrations of this merchant take EGP, not ${currency}`);
	}

	if (items.length > 0 && items.reduce((sum, item) => sum + Number(item['amount']), 0) !== amount) {
		throw wrongSum();
	}

	const isUsed = [...merchant.intentions.values()].some((one) => one.specialReference === specialReference);
	if (merchant.settings.duplicateReferences === 'refused' && specialReference !== null && isUsed) {
		throw duplicateReference();
	}

	const intention: Intention = {
		id: randomToken('pi_test_'),
		clientSecret: randomToken('egy_csk_test_'),
		orderId: merchant.nextId(),
		amount,
		currency,
		integrations,
		paymentKeys: new Map(integrations.map((id) => [id, randomToken('ZXlK')])),
		items,
		billingData,
		specialReference,
		extras: isFields(body['extras']) ? body['extras'] : {},
		cardTokens,
		notificationUrl,
		redirectionUrl,
		createdAt: merchant.timestamp(),
		expiresAt: new Date(merchant.now().getTime() + expiration * 1000),
		paid: 0,
	};
	merchant.intentions.set(intention.orderId, intention);
	return intention;
};

/** What the customer and the service call it: order id, reference, intention id or client secret. */
export const findIntention = ({intentions}: Merchant, name: string | number): Intention | undefined =>
	[...intentions.values()].find(({orderId, specialReference, id, clientSecret}) =>
		[String(orderId), specialReference, id, clientSecret].includes(String(name)),
	);

/** @throws 400 where the intention can not be paid any more because of its age. */
export const requireFresh = (merchant: Merchant, {expiresAt}: Intention): void => {
	if (merchant.now() >= expiresAt) {
		throw notPossible('The payment intention has expired.');
	}
};

/** The members of `extra` in callbacks. */
export const extrasOf = ({extras, specialReference}: Intention): Fields => ({
	...extras,
	...(specialReference === null ? {} : {merchant_order_id: specialReference}),
});

/** An intention as the API shows it. */
export const presentIntention = (merchant: Merchant, intention: Intention): Fields => ({
	id: intention.id,
	object: 'paymentintention',
	client_secret: intention.clientSecret,
	intention_order_id: intention.orderId,
	status: intention.paid > 0 ? 'processed' : 'intended',
	confirmed: intention.paid > 0,
	created: intention.createdAt,
	special_reference: intention.specialReference,
	intention_detail: {
		amount: intention.amount,
		currency: intention.currency,
		items: intention.items,
		billing_data: intention.billingData,
	},
	payment_keys: [...intention.paymentKeys].map(([integration, key]) => ({
		integration,
		key,
		gateway_type: 'MIGS',
		iframe_id: null,
		order_id: intention.orderId,
		redirection_url: null,
		save_card: integration === merchant.integrations.card,
	})),
	payment_methods: intention.integrations.map((id) => ({
		integration_id: id,
		name: id === merchant.integrations.card ? 'card' : 'moto',
		method_type: 'online',
		currency: intention.currency,
		live: false,
	})),
	extras: {creation_extras: extrasOf(intention), confirmation_extras: null},
	card_detail: null,
	card_tokens: intention.cardTokens,
	redirection_url: intention.redirectionUrl,
});
