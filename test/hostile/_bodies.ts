import fc from 'fast-check';
import type {Operation} from '../../src/openapi/operation.ts';
import {document} from '../setup/documented.ts';
import {fieldValue, hostile} from './_values.ts';

/** JSON with names of the world in it, or bytes as they are. */
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

/** What the identity provider tells, of people and organizations that are known or not, and odd wherever it can be. */
const tell = fc.oneof(
	{weight: 6, arbitrary: fc.constantFrom('org_1', 'user_1', 'mem_1', 'Acme')},
	{weight: 1, arbitrary: hostile},
);
const orHostile = (usual: fc.Arbitrary<unknown>) =>
	fc.oneof({weight: 6, arbitrary: usual}, {weight: 1, arbitrary: hostile});
const at = orHostile(fc.constantFrom(1_773_144_000_000, 1_773_144_060_000));
const email = fc.record({
	id: tell,
	email_address: orHostile(fc.emailAddress()),
	verification: orHostile(fc.constant({status: 'verified'})),
});
const told = fc.record({
	id: tell,
	name: tell,
	role: tell,
	first_name: tell,
	last_name: tell,
	created_by: tell,
	created_at: at,
	updated_at: at,
	primary_email_address_id: tell,
	email_addresses: orHostile(fc.array(email, {maxLength: 2})),
	public_metadata: orHostile(fc.record({role: orHostile(fc.constantFrom('owner', 'viewer', 'OWNER'))})),
	organization: orHostile(fc.record({id: tell, name: tell, created_by: tell, created_at: at})),
	public_user_data: orHostile(fc.record({user_id: tell, identifier: tell, first_name: tell})),
});
const delivery = fc.record({
	type: fc.constantFrom(
		'organization.created',
		'organization.updated',
		'organization.deleted',
		'user.created',
		'user.updated',
		'organizationMembership.created',
		'organizationMembership.updated',
		'organizationMembership.deleted',
	),
	timestamp: at,
	data: orHostile(told),
});

const linkSchema = document.paths['/links']?.['post']?.requestBody?.content['application/json']?.schema ?? {};
const rows = fc
	.array(fc.oneof(fieldValue(linkSchema, '', {isClean: true}), fieldValue(linkSchema), hostile), {maxLength: 6})
	.map((all): Body => ({json: all.map((row) => JSON.stringify(row)).join('\n')}));

/** Bodies for an operation: mostly of its schema, with hostile values at any depth, else anything at all. */
export const bodiesOf = (path: string, {requestBody}: Operation): fc.Arbitrary<Body> => {
	const anything = {weight: 1, arbitrary: fc.oneof(hostile.map(json), bytes, nothing)};
	if (path === '/webhooks/idp') {
		return fc.oneof({weight: 8, arbitrary: delivery.map(json)}, anything);
	}

	if (path.endsWith('/import')) {
		return fc.oneof({weight: 8, arbitrary: rows}, anything);
	}

	const [content] = Object.values(requestBody?.content ?? {});
	if (content === undefined) {
		return fc.oneof({weight: 12, arbitrary: nothing}, anything);
	}

	const {schema} = content;
	return fc.oneof(
		{weight: 6, arbitrary: fieldValue(schema, '', {isClean: true}).map(json)},
		{weight: 6, arbitrary: fieldValue(schema).map(json)},
		anything,
	);
};
