import fc from 'fast-check';
import {TOKEN_FIELDS, TRANSACTION_FIELDS} from '../../src/accounts/billing/paymob/paymob-hmac.ts';
import type {Operation} from '../../src/operations/openapi/operation.ts';
import {document} from '../setup/documented.ts';
import {fieldValue, hostile, known} from './_values.ts';

/** Deliveries of the identity provider and the gateways, as odd as possible. `_signatures.ts` signs them. */

const orHostile = (usual: fc.Arbitrary<unknown>) =>
	fc.oneof({weight: 8, arbitrary: usual}, {weight: 1, arbitrary: hostile});
const one = (...values: unknown[]) => orHostile(fc.constantFrom(...values));
const orHostileRecord = (fields: Record<string, fc.Arbitrary<unknown>>) => orHostile(fc.record(fields));
/** The same values for fields of several names. */
const each = (names: string, values: fc.Arbitrary<unknown>) =>
	Object.fromEntries(names.split(' ').map((name) => [name, values]));

const id = one('org_1', 'user_1', 'mem_1', 'Acme');
const at = one(1_773_144_000_000, 1_773_144_060_000);
const email = fc.record({id, email_address: orHostile(fc.emailAddress()), verification: one({status: 'verified'})});

const providerTypes = [
	...['created', 'updated', 'deleted'].flatMap((what) => [`organization.${what}`, `organizationMembership.${what}`]),
	...['user.created', 'user.updated'],
];

/** A delivery of the identity provider. */
const delivery = fc.record({
	type: fc.constantFrom(...providerTypes),
	timestamp: at,
	data: orHostileRecord({
		...each('id name role first_name last_name created_by primary_email_address_id', id),
		...each('created_at updated_at', at),
		email_addresses: orHostile(fc.array(email, {maxLength: 2})),
		public_metadata: orHostileRecord({role: one('owner', 'viewer', 'OWNER')}),
		organization: orHostileRecord({...each('id name created_by', id), created_at: at}),
		public_user_data: orHostileRecord(each('user_id identifier first_name', id)),
	}),
});

const metadata = orHostileRecord({
	orgId: one(known('organizationId')),
	attemptId: one('5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11'),
});
const subscriptionId = one('sub_1', 'sub_2', {id: 'sub_3'});
const stripeTypes = [
	...['created', 'updated', 'deleted'].map((what) => `customer.subscription.${what}`),
	...['checkout.session.completed', 'checkout.session.expired'],
	...['invoice.paid', 'invoice.payment_failed', 'charge.refunded'],
];

/** An event of gateway A. */
const stripeEvent = fc.record({
	id: fc.oneof(
		fc.uuid().map((text) => `evt_${text}`),
		hostile,
	),
	type: one(...stripeTypes),
	created: one(1_773_144_000),
	data: orHostileRecord({
		object: orHostileRecord({
			...each('id subscription', subscriptionId),
			object: one('subscription', 'invoice', 'checkout.session'),
			client_reference_id: one(known('organizationId')),
			customer: one('cus_1'),
			status: one('active', 'past_due', 'canceled'),
			metadata,
			items: one({data: [{price: {id: 'price_oplink_growth'}}]}),
			parent: orHostileRecord({
				type: fc.constant('subscription_details'),
				subscription_details: orHostileRecord({subscription: subscriptionId, metadata}),
			}),
		}),
	}),
});

const usual: Record<string, fc.Arbitrary<unknown>> = {
	amount_cents: one(1900, '1900', 0),
	created_at: one('2026-03-10T12:00:00.000000', '2026-03-10T12:00:00+02:00'),
	currency: one('EGP'),
	id: orHostile(fc.nat()),
	integration_id: one(4_000_001, 4_000_002),
	order_id: one('1', '2'),
	token: one('tok_1'),
	masked_pan: one('xxxx-xxxx-xxxx-1111'),
};

const objectOf = (fields: readonly string[]) =>
	fc.record({
		...Object.fromEntries(
			fields.filter((name) => !name.includes('.')).map((name) => [name, usual[name] ?? one(true, false)]),
		),
		order: orHostileRecord({id: one(1, 2), merchant_order_id: id}),
		source_data: orHostileRecord({pan: one('1111'), sub_type: one('Visa'), type: one('card')}),
	});

/** A callback of gateway B. */
const paymobCallback = fc.oneof(
	fc.record({type: fc.constant('TRANSACTION'), obj: orHostile(objectOf(TRANSACTION_FIELDS))}),
	fc.record({type: fc.constant('TOKEN'), obj: orHostile(objectOf(TOKEN_FIELDS))}),
	fc.record({type: hostile, obj: hostile}),
);

/** JSON with names of the world in it, or raw bytes. */
export type Body = {json: string} | {bytes: Uint8Array} | null;

const json = (value: unknown): Body => ({json: JSON.stringify(value)});
const nothing = fc.constant<Body>(null);

const broken = [
	'{',
	'[',
	'"',
	'{"a":',
	'{"a":1}}',
	'nul',
	'\ufeff{}',
	'{"path":"/a","path":"/b"}',
	"{'a':1}",
	'// x\n{}',
];
const bytes = fc
	.oneof(
		fc.constantFrom(...broken.map((text) => Buffer.from(text))),
		fc.constantFrom('{"path":"\xff"}', '{"path":"\xed\xa0\x80"}').map((text) => Buffer.from(text, 'latin1')),
		fc.constant(Buffer.from('{"path":"/a"}', 'utf16le')),
		fc.uint8Array({maxLength: 60}),
	)
	.map((one): Body => ({bytes: one}));

const events: Record<string, fc.Arbitrary<unknown>> = {
	'/webhooks/idp': delivery,
	'/webhook/gateway-a': stripeEvent,
	'/webhook/gateway-b': paymobCallback,
};

const linkSchema = document.paths['/links']?.['post']?.requestBody?.content['application/json']?.schema ?? {};
const rows = fc
	.array(fc.oneof(fieldValue(linkSchema, '', {isClean: true}), fieldValue(linkSchema), hostile), {maxLength: 6})
	.map((all): Body => ({json: all.map((row) => JSON.stringify(row)).join('\n')}));

/** Bodies for an operation: mostly of its schema, with hostile values at any depth, else anything at all. */
export const bodiesOf = (path: string, {requestBody}: Operation): fc.Arbitrary<Body> => {
	const [content] = Object.values(requestBody?.content ?? {});
	const {schema} = content ?? {};
	const ofSchema =
		schema === undefined
			? nothing
			: fc.oneof(fieldValue(schema, '', {isClean: true}).map(json), fieldValue(schema).map(json));
	const usual = events[path]?.map(json) ?? (path.endsWith('/import') ? rows : ofSchema);
	return fc.oneof({weight: 11, arbitrary: usual}, fc.oneof(hostile.map(json), bytes, nothing));
};
