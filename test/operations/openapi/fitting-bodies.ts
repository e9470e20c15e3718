import {randomUUID} from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import type {JsonSchema} from '../../../src/operations/openapi/json-schema.ts';
import type {Operation} from '../../../src/operations/openapi/operation.ts';
import {link, organization} from '../../helpers/builders.ts';
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

type World = {paths: Record<string, string>; callerOf: (operation: Operation, path: string) => () => Caller};

/** An organization that an operation may change as it likes; each request comes from an address of its own. */
const createWorld = async (): Promise<World> => {
	const acme = await organization(portal, {plan: 'SCALE'});
	const {user, clerkOrgId} = await member(portal, {role: 'owner', organization: acme});
	const {user: other} = await member(portal, {role: 'viewer', organization: acme});
	const operator = ops(portal);
	const {id, shortCode} = await link(acme);
	const {body: template} = await admin(portal).post(`/admin/organizations/${acme.id}/templates`, {name: 'Spring'});
	const sessions = {
		own: {user: user.clerkUserId, organization: clerkOrgId},
		ops: {user: operator.clerkUserId, organization: portal.provider.opsOrganization},
	};
	const callers: Record<string, () => Caller> = {
		serverKey: () => withKey(portal, acme.serverKey),
		clientKey: () => withKey(portal, acme.clientKey),
		adminToken: () => admin(portal),
		session: () => session(portal, sessions.own),
		ops: () => session(portal, sessions.ops),
	};
	return {
		paths: {orgId: acme.id, orgKey: acme.orgKey, shortCode, userId: other.id, links: id, templates: template.id},
		callerOf: ({security}, path) => {
			const scheme = Object.keys(security[0] ?? {})[0] ?? 'none';
			return callers[/^\/(?:dev|portal\/admin)\//.test(path) ? 'ops' : scheme] ?? (() => anonymous(portal));
		},
	};
};

const concrete = (path: string, {paths}: World): string =>
	path
		.replaceAll(/(\w+)\/\{id\}/g, (_, of: string) => `${of}/${paths[of] ?? randomUUID()}`)
		.replaceAll(/\{(\w+)\}/g, (_, name: string) => paths[name] ?? name);

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
		const world = await createWorld();
		const callerFor = world.callerOf(operation, path);
		const at = concrete(path, world);
		const isFitting = fits(schema);
		const bodies = fc.sample(valuesOf(schema).filter(isFitting), {seed: SEED, numRuns: BODIES});
		t.is(bodies.length, BODIES);
		for (const body of bodies) {
			const answer = await callerFor()[method](at, body);
			const fault = complaint(answer);
			t.is(fault, null, `${JSON.stringify(body).slice(0, 1000)}`);
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
