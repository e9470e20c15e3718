import {randomUUID} from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import type {JsonSchema} from '../../../src/operations/openapi/json-schema.ts';
import type {Operation} from '../../../src/operations/openapi/operation.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {type Answer, admin, anonymous, type Caller, withKey} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {member, ops, portalOf, session} from '../../helpers/portal.ts';
import {document} from '../../setup/documented.ts';
import {beyondSchema, fits, valuesOf} from './_fitting.ts';

/** For each operation; more where time matters less. */
const BODIES = isDeep ? 25 : 4;
const SEED = 1;

const portal = portalOf(test);

/** Operations that take JSON from others than those who sign it, with its schema. */
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods).flatMap(([method, operation]) => {
		const schema = operation.requestBody?.content['application/json']?.schema;
		return schema === undefined || operation.tags.includes('Webhooks')
			? []
			: [{path, method: method as 'post' | 'put' | 'patch', operation, schema}];
	}),
);

/** Who may do an operation, each time from an address of its own. */
const callerOf = async ({security}: Operation, path: string, acme: TestOrganization): Promise<() => Caller> => {
	const [scheme = 'none'] = /^\/(?:dev|portal\/admin)\//.test(path) ? ['ops'] : Object.keys(security[0] ?? {});
	switch (scheme) {
		case 'serverKey':
			return () => withKey(portal, acme.serverKey);
		case 'clientKey':
			return () => withKey(portal, acme.clientKey);
		case 'adminToken':
			return () => admin(portal);
		case 'session': {
			const {user, clerkOrgId} = await member(portal, {role: 'owner', organization: acme});
			return () => session(portal, {user: user.clerkUserId, organization: clerkOrgId});
		}

		case 'ops': {
			const {clerkUserId} = ops(portal);
			return () => session(portal, {user: clerkUserId, organization: portal.provider.opsOrganization});
		}

		default:
			return () => anonymous(portal);
	}
};

/** The path of an operation on what the organization has, which it gets for that. */
const concrete = async (path: string, acme: TestOrganization): Promise<string> => {
	const made: Record<string, () => Promise<string> | string> = {
		orgId: () => acme.id,
		orgKey: () => acme.orgKey,
		shortCode: async () => (await link(acme)).shortCode,
		userId: async () => (await member(portal, {role: 'viewer', organization: acme})).user.id,
		'links/id': async () => (await link(acme)).id,
		'templates/id': async () => (await acme.operator.post('/templates', {name: 'Spring'})).body.id,
	};
	let at = path;
	for (const [, of, name = ''] of path.matchAll(/(?:(\w+)\/)?\{(\w+)\}/g)) {
		const make = made[name === 'id' ? `${of}/id` : name] ?? (() => (name === 'id' ? randomUUID() : name));
		at = at.replace(`{${name}}`, await make());
	}

	return at;
};

/** No gateway is configured here, which is said after the body was taken. */
const GATEWAY_OFF = 'Payment gateway not configured';

/** The validation error for a body that fits its schema; null if it is accepted. */
const complaint = ({status, body, text}: Answer): string | null => {
	// These come before the body is looked at, or say that something broke.
	if (status === 401 || status === 429 || (status >= 500 && body.message !== GATEWAY_OFF)) {
		return `${status}: ${text}`;
	}

	return status === 400 && body.message === 'Validation failed' ? JSON.stringify(body.details) : null;
};

for (const {path, method, operation, schema} of operations) {
	test(`${method.toUpperCase()} ${path} takes every body that fits its schema`, async (t) => {
		const acme = await organization(portal, {plan: 'SCALE'});
		const caller = await callerOf(operation, path, acme);
		const at = await concrete(path, acme);
		const isFitting = fits(schema);
		const bodies = fc.sample(valuesOf(schema).filter(isFitting), {seed: SEED, numRuns: BODIES});
		t.is(bodies.length, BODIES);
		for (const body of bodies) {
			t.is(complaint(await caller()[method](at, body)), null, JSON.stringify(body).slice(0, 1000));
		}
	});
}

test('constraints beyond JSON Schema are in the field’s description', (t) => {
	const named = new Set<string>();
	const walk = (schema: JsonSchema) => {
		for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)) {
			walk(field);
			const rule = beyondSchema[name];
			if (rule !== undefined) {
				t.regex(String(field['description']), rule.words, name);
				named.add(name);
			}
		}

		if (typeof schema['items'] === 'object') {
			walk(schema['items'] as JsonSchema);
		}
	};
	for (const {schema} of operations) {
		walk(schema);
	}

	t.deepEqual([...named].toSorted(), Object.keys(beyondSchema).toSorted());
});
