import fc from 'fast-check';
import type {Operation} from '../../src/operations/openapi/operation.ts';
import {document} from '../setup/documented.ts';
import {delivery, paymobCallback, stripeEvent} from './_deliveries.ts';
import {fieldValue, hostile} from './_values.ts';

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
