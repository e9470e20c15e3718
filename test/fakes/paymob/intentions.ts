import Joi from 'joi';
import {check, type Fields, integer, isFields, requiredInteger, requiredText, text} from './fields.ts';
import {type Intention, type Merchant, randomToken} from './merchant.ts';
import {duplicateReference, noIntegration, notFound, notPossible, wrongFields, wrongSum} from './paymob-errors.ts';

/** 36 days, which is also what counts where nothing is said. */
const MAX_EXPIRATION = 3_110_400;
const MAX_AMOUNT = 1_000_000_000;
const NO_IDS = 'A list of integration ids, as integers, is required.';

/** A body of `POST /v1/intention/` (contract/billing 20). */
const bodySchema = Joi.object<{
	amount: number;
	currency: string;
	payment_methods: number[];
	items: Fields[];
	billing_data: Fields;
	card_tokens: string[];
	expiration: number;
	special_reference: string | null;
	notification_url: string | null;
	redirection_url: string | null;
}>({
	amount: requiredInteger(1, MAX_AMOUNT),
	currency: requiredText(),
	payment_methods: Joi.array()
		.items(Joi.number())
		.min(1)
		.required()
		.messages({'any.required': NO_IDS, 'array.base': NO_IDS, 'array.min': NO_IDS, 'number.base': NO_IDS}),
	items: Joi.array()
		.items(Joi.object({name: requiredText(50), amount: requiredInteger(0, MAX_AMOUNT)}))
		.default([]),
	billing_data: Joi.object({
		first_name: requiredText(50),
		last_name: requiredText(50),
		email: requiredText(),
		phone_number: requiredText(),
	}).required(),
	card_tokens: Joi.array().max(3).default([]).messages({'array.max': 'Ensure this field has no more than 3 elements.'}),
	expiration: integer(1, MAX_EXPIRATION).default(MAX_EXPIRATION),
	special_reference: text,
	notification_url: text,
	redirection_url: text,
});

/** `POST /v1/intention/`. @throws 400 with the faulty fields, 404, 406, 422. */
export const createIntention = (merchant: Merchant, body: Fields): Intention => {
	const given = check(bodySchema, body);
	const {amount, currency, items, payment_methods: integrations, special_reference: specialReference} = given;
	const foreign = integrations.find((id) => !Object.values(merchant.integrations).includes(id));
	if (foreign !== undefined) {
		throw noIntegration(foreign);
	}

	if (given.card_tokens.some((token) => !merchant.savedCards.has(token))) {
		throw wrongFields({card_tokens: ['Invalid card token.']});
	}

	if (currency !== 'EGP') {
		throw notPossible(`The integrations of this merchant take EGP, not ${currency}`);
	}

	if (items.length > 0 && items.reduce((sum, item) => sum + Number(item['amount']), 0) !== amount) {
		throw wrongSum();
	}

	const isUsed = [...merchant.intentions.values()].some((one) => one.specialReference === specialReference);
	if (specialReference !== null && isUsed) {
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
		billingData: given.billing_data,
		specialReference,
		extras: isFields(body['extras']) ? body['extras'] : {},
		cardTokens: given.card_tokens,
		notificationUrl: given.notification_url,
		redirectionUrl: given.redirection_url,
		createdAt: merchant.timestamp(),
		expiresAt: new Date(merchant.now().getTime() + given.expiration * 1000),
		paid: 0,
	};
	merchant.intentions.set(intention.orderId, intention);
	return intention;
};

/**
 * An intention by what the customer and the service call it: order id, reference, intention id or client secret.
 * @throws 404 where there is none.
 */
export const findIntention = ({intentions}: Merchant, name: unknown): Intention => {
	const found = [...intentions.values()].find(({orderId, specialReference, id, clientSecret}) =>
		[String(orderId), specialReference, id, clientSecret].includes(String(name)),
	);
	if (found === undefined) {
		throw notFound();
	}

	return found;
};

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
