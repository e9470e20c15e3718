import test from 'ava';
import {routes} from '../src/routes.ts';
import {organization} from './helpers/builders.ts';
import {type Answer, anonymous, type Headers} from './helpers/callers.ts';
import {member, ops, portalOf} from './helpers/portal.ts';

/**
 * Written by hand from contract/hosts 7 and contract/portal 2: every route there is, and who may call it. A role
 * stands for a session of at least that role, `session` for one of any, `user` for one without an organization too.
 */
const specified = `
none       GET    /health/live
none       GET    /health/ready
none       GET    /openapi.json
none       GET    /docs
none       GET    /metrics
none       GET    /internal/tls/ask
none       GET    /.well-known/apple-app-site-association
none       GET    /.well-known/assetlinks.json
none       POST   /match
serverKey  POST   /links
serverKey  GET    /links
serverKey  GET    /links/:id
serverKey  PATCH  /links/:id
serverKey  DELETE /links/:id
serverKey  GET    /links/:id/qr.svg
serverKey  GET    /links/:id/qr.png
clientKey  POST   /sdk/session
clientKey  POST   /sdk/identity
clientKey  POST   /sdk/identity/clear
clientKey  POST   /sdk/links
clientKey  POST   /sdk/events
admin      GET    /admin/links
admin      GET    /admin/organizations
admin      POST   /admin/organizations
admin      GET    /admin/organizations/:orgId
admin      PATCH  /admin/organizations/:orgId
admin      DELETE /admin/organizations/:orgId
admin      POST   /admin/organizations/:orgId/suspend
admin      POST   /admin/organizations/:orgId/activate
admin      PUT    /admin/organizations/:orgId/plan
admin      GET    /admin/organizations/:orgId/audit-log
admin      GET    /admin/organizations/:orgId/api-keys
admin      POST   /admin/organizations/:orgId/api-keys/:tier/regenerate
admin      DELETE /admin/organizations/:orgId/api-keys/:id
admin      GET    /admin/organizations/:orgId/app-config
admin      PUT    /admin/organizations/:orgId/app-config
admin      GET    /admin/organizations/:orgId/domains
admin      POST   /admin/organizations/:orgId/domains
admin      PATCH  /admin/organizations/:orgId/domains/:id
admin      POST   /admin/organizations/:orgId/domains/:id/verify
admin      POST   /admin/organizations/:orgId/domains/:id/approve
admin      POST   /admin/organizations/:orgId/domains/:id/reject
admin      POST   /admin/organizations/:orgId/domains/:id/default
admin      GET    /admin/organizations/:orgId/domains/:id/unknown-codes
admin      DELETE /admin/organizations/:orgId/domains/:id
admin      GET    /admin/organizations/:orgId/templates
admin      POST   /admin/organizations/:orgId/templates
admin      GET    /admin/organizations/:orgId/templates/:id
admin      PATCH  /admin/organizations/:orgId/templates/:id
admin      DELETE /admin/organizations/:orgId/templates/:id
admin      GET    /admin/organizations/:orgId/channels
admin      POST   /admin/organizations/:orgId/channels
admin      GET    /admin/organizations/:orgId/channels/:id
admin      PATCH  /admin/organizations/:orgId/channels/:id
admin      DELETE /admin/organizations/:orgId/channels/:id
admin      GET    /admin/organizations/:orgId/links
admin      POST   /admin/organizations/:orgId/links
admin      GET    /admin/organizations/:orgId/links/export
admin      POST   /admin/organizations/:orgId/links/import
admin      GET    /admin/organizations/:orgId/links/:id
admin      PATCH  /admin/organizations/:orgId/links/:id
admin      DELETE /admin/organizations/:orgId/links/:id
admin      GET    /admin/organizations/:orgId/links/:id/qr.svg
admin      GET    /admin/organizations/:orgId/links/:id/qr.png
admin      GET    /admin/organizations/:orgId/stats
admin      GET    /admin/organizations/:orgId/stats/funnel
admin      GET    /admin/organizations/:orgId/usage
admin      GET    /admin/organizations/:orgId/events
admin      GET    /admin/organizations/:orgId/devices
admin      GET    /admin/organizations/:orgId/devices/:deviceId
admin      GET    /admin/organizations/:orgId/matches
admin      GET    /admin/organizations/:orgId/matches/:id
admin      GET    /admin/matches/:id
admin      POST   /admin/organizations/:orgId/matches/simulate
admin      GET    /admin/organizations/:orgId/devices/:deviceId/data
admin      DELETE /admin/organizations/:orgId/devices/:deviceId/data
admin      GET    /admin/organizations/:orgId/users/:externalUserId/data
admin      DELETE /admin/organizations/:orgId/users/:externalUserId/data
admin      GET    /admin/webhooks/events
admin      GET    /admin/webhooks/events/:id
admin      POST   /admin/webhooks/events/:id/replay
admin      GET    /admin/billing/events
admin      GET    /admin/billing/events/:id
admin      POST   /admin/billing/events/:id/replay
admin      GET    /admin/status
admin      GET    /admin/doctor
admin      GET    /admin/clicks/stream
signature  POST   /webhooks/idp
signature  POST   /webhook/gateway-a
signature  POST   /webhook/gateway-b
user       GET    /portal/onboarding/state
user       POST   /portal/onboarding/create-organization
owner      POST   /portal/onboarding/select-plan
viewer     GET    /portal/organization
admin-role PATCH  /portal/organization
owner      DELETE /portal/organization
viewer     GET    /portal/team
admin-role PATCH  /portal/team/:userId
admin-role DELETE /portal/team/:userId
viewer     GET    /portal/team/invitations
admin-role POST   /portal/team/invitations
admin-role DELETE /portal/team/invitations/:id
none       GET    /portal/billing/pricing
owner      POST   /portal/billing/checkout-session
owner      POST   /portal/billing/change-plan
owner      POST   /portal/billing/cancel
owner      POST   /portal/billing/resume
owner      POST   /portal/billing/renew
owner      GET    /portal/billing/subscription/active
owner      GET    /portal/billing/subscription
owner      GET    /portal/billing/invoices
owner      GET    /portal/billing/invoices/:id
owner      GET    /portal/billing/payment-methods
owner      POST   /portal/billing/portal-session
session    GET    /portal/api-keys
developer  POST   /portal/api-keys/:tier/regenerate
viewer     GET    /portal/app-config
developer  PUT    /portal/app-config
viewer     GET    /portal/links
developer  POST   /portal/links
viewer     GET    /portal/links/:id
developer  PATCH  /portal/links/:id
developer  DELETE /portal/links/:id
viewer     GET    /portal/links/:id/qr.svg
viewer     GET    /portal/links/:id/qr.png
viewer     GET    /portal/links/:id/stats
viewer     GET    /portal/templates
developer  POST   /portal/templates
viewer     GET    /portal/templates/:id
developer  PATCH  /portal/templates/:id
developer  DELETE /portal/templates/:id
viewer     GET    /portal/channels
developer  POST   /portal/channels
viewer     GET    /portal/channels/:id
developer  PATCH  /portal/channels/:id
developer  DELETE /portal/channels/:id
viewer     GET    /portal/domains
admin-role POST   /portal/domains
admin-role PATCH  /portal/domains/:id
admin-role POST   /portal/domains/:id/verify
admin-role POST   /portal/domains/:id/default
viewer     GET    /portal/domains/:id/unknown-codes
admin-role DELETE /portal/domains/:id
viewer     GET    /portal/dashboard
viewer     GET    /portal/funnel
viewer     GET    /portal/usage
analyst    GET    /portal/matches
analyst    GET    /portal/matches/:id
analyst    GET    /portal/events
analyst    GET    /portal/devices
analyst    GET    /portal/devices/:deviceId
admin-role GET    /portal/audit-log
admin      GET    /admin/organizations/:orgId/webhook-endpoints
admin-role GET    /portal/webhook-endpoints
admin      POST   /admin/organizations/:orgId/webhook-endpoints
admin-role POST   /portal/webhook-endpoints
admin      GET    /admin/organizations/:orgId/webhook-endpoints/:id
admin-role GET    /portal/webhook-endpoints/:id
admin      PATCH  /admin/organizations/:orgId/webhook-endpoints/:id
admin-role PATCH  /portal/webhook-endpoints/:id
admin      DELETE /admin/organizations/:orgId/webhook-endpoints/:id
admin-role DELETE /portal/webhook-endpoints/:id
admin      POST   /admin/organizations/:orgId/webhook-endpoints/:id/rotate
admin-role POST   /portal/webhook-endpoints/:id/rotate
admin      POST   /admin/organizations/:orgId/webhook-endpoints/:id/test
admin-role POST   /portal/webhook-endpoints/:id/test
admin      GET    /admin/organizations/:orgId/webhook-endpoints/:id/deliveries
admin-role GET    /portal/webhook-endpoints/:id/deliveries
admin      POST   /admin/organizations/:orgId/webhook-endpoints/:id/deliveries/:deliveryId/replay
admin-role POST   /portal/webhook-endpoints/:id/deliveries/:deliveryId/replay
admin      POST   /admin/organizations/:orgId/webhook-endpoints/:id/replay
admin-role POST   /portal/webhook-endpoints/:id/replay
admin      GET    /admin/organizations/:orgId/export/clicks
admin-role GET    /portal/export/clicks
admin      GET    /admin/organizations/:orgId/export/events
admin-role GET    /portal/export/events
admin      GET    /admin/organizations/:orgId/export/matches
admin-role GET    /portal/export/matches
admin      GET    /admin/whoami
admin      GET    /admin/tokens
admin      POST   /admin/tokens
admin      DELETE /admin/tokens/:id
none       GET    /sign-in
ops        POST   /portal/admin/billing/organizations/:orgId/plan
ops        GET    /dev/session
ops        POST   /dev/match
none       GET    /:orgKey/:shortCode/data
none       POST   /:orgKey/:shortCode/signals
none       GET    /:orgKey/:shortCode
none       GET    /
none       GET    /:shortCode
`;

/**
 * Written by hand from contract/requests 6, contract/requests 7: the answer to each credential (down) on each kind of
 * route.
 */
const expected = `
             user session viewer analyst developer admin-role owner ops serverKey clientKey admin
nobody       401  401     401    401     401       401        401   401 401       401       401
unfinished   ok   401     401    401     401       401        401   401 401       401       401
roleless     ok   ok      403    403     403       403        403   403 401       401       401
viewer       ok   ok      ok     403     403       403        403   403 401       401       401
analyst      ok   ok      ok     ok      403       403        403   403 401       401       401
developer    ok   ok      ok     ok      ok        403        403   403 401       401       401
admin-role   ok   ok      ok     ok      ok        ok         403   403 401       401       401
owner        ok   ok      ok     ok      ok        ok         ok    403 401       401       401
removed      ok   403     403    403     403       403        403   403 401       401       401
foreign      ok   403     403    403     403       403        403   403 401       401       401
ops          ok   403     403    403     403       403        403   ok  401       401       401
passthrough  ok   ok      ok     ok      ok        ok         ok    ok  401       401       401
serverKey    401  401     401    401     401       401        401   401 ok        403       401
clientKey    401  401     401    401     401       401        401   401 403       ok        401
unknownKey   401  401     401    401     401       401        401   401 401       401       401
admin        401  401     401    401     401       401        401   401 401       401       ok
`;

/** Exceptions: it fetches a membership that is not mirrored, and admits unfinished sessions. */
const exceptions: Record<string, Record<string, string>> = {
	'GET /portal/onboarding/state': {removed: '403', foreign: '403', ops: '403', passthrough: '403'},
	'POST /portal/onboarding/select-plan': {unfinished: '403'},
};

const rows = (text: string): string[][] =>
	text
		.trim()
		.split('\n')
		.map((line) => line.trim().split(/\s+/));

const portal = portalOf(test);

test('the routes of the server are those of the specification, with their credentials and roles', (t) => {
	const kind = ({credential, role}: (typeof routes)[number]) => {
		if (credential !== 'session') {
			return credential;
		}

		return role === 'admin' ? 'admin-role' : (role ?? 'session');
	};
	t.deepEqual(
		routes.map((route) => `${kind(route)} ${route.method} ${route.path}`).toSorted(),
		rows(specified)
			.map((columns) => columns.join(' '))
			.toSorted(),
	);
});

const example: Record<string, string> = {
	id: '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11',
	userId: '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c12',
	deliveryId: '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c13',
	tier: 'CLIENT',
	orgKey: 'AB12',
	shortCode: 'code',
};

/** One request from an address of its own, because limits count addresses and the clock stands still. */
const call = async (method: string, path: string, headers: Headers): Promise<Answer> => {
	const caller = anonymous(portal);
	switch (method) {
		case 'GET':
			// A stream has no end to wait for.
			return path.startsWith('/admin/clicks/stream') ? caller.head(path, headers) : caller.get(path, headers);
		case 'DELETE':
			return caller.delete(path, headers);
		case 'POST':
			return caller.post(path, {}, headers);
		case 'PUT':
			return caller.put(path, {}, headers);
		default:
			return caller.patch(path, {}, headers);
	}
};

/**
 * All callers of `expected` and their requests. The operator's organization is a separate one, because it may be
 * deleted.
 */
const everybody = async () => {
	const acme = await organization(portal);
	const members = async () => {
		const known = ['viewer', 'analyst', 'developer', 'admin', 'owner'] as const;
		const entries = known.map(async (role) => {
			const {user, clerkOrgId} = await member(portal, {role, organization: acme});
			return [role === 'admin' ? 'admin-role' : role, {user: user.clerkUserId, organization: clerkOrgId}] as const;
		});
		return Object.fromEntries(await Promise.all(entries));
	};
	const {clerkOrgId: acmeAtProvider, user: roleless} = await member(portal, {role: null, organization: acme});
	const {user: removed} = await member(portal, {role: 'owner', organization: acme});
	portal.provider.removeMember(acmeAtProvider, removed.clerkUserId);
	await portal.services.db('org_members').where({user_id: removed.id}).delete();
	const operator = ops(portal);
	// The ops organization stays unmirrored, even when the provider is asked.
	portal.provider.removeMember(portal.provider.opsOrganization, operator.clerkUserId);
	const sessions = {
		...(await members()),
		unfinished: {user: portal.provider.user(), organization: null},
		roleless: {user: roleless.clerkUserId, organization: acmeAtProvider},
		removed: {user: removed.clerkUserId, organization: acmeAtProvider, role: 'owner'},
		foreign: {user: portal.provider.user(), organization: 'org_of_nobody_here', role: 'owner'},
		ops: {user: operator.clerkUserId, organization: portal.provider.opsOrganization},
		passthrough: {user: operator.clerkUserId, organization: portal.provider.opsOrganization},
	};
	const tokens: Record<string, string> = {
		serverKey: acme.serverKey,
		clientKey: acme.clientKey,
		unknownKey: `opl_api_${'x'.repeat(43)}`,
		admin: portal.adminToken,
	};
	for (const [name, input] of Object.entries(sessions)) {
		tokens[name] = await portal.provider.token(input);
	}

	return {acme, victim: await organization(portal), tokens};
};

test('every route answers every credential as specified', async (t) => {
	const {acme, victim, tokens} = await everybody();
	const [kinds = [], ...callers] = rows(expected);
	const walk = async (kind: string, method: string, path: string) => {
		const orgId = path.startsWith('/admin') ? victim.id : acme.id;
		const concrete = path.replace(':orgId', orgId).replace(/:(\w+)/g, (_, name: string) => example[name] ?? name);
		const ask = async ([name = '', ...statuses]: string[]) => {
			const authorization: Headers = name === 'nobody' ? {} : {Authorization: `Bearer ${tokens[name]}`};
			const query = name === 'passthrough' ? `?orgId=${acme.id}` : '';
			const {status} = await call(method, concrete + query, authorization);
			// A webhook has no credential but its signature, and a bad one is 400 (contract/requests 6).
			const general = kind === 'signature' ? '400' : kind === 'none' ? 'ok' : (statuses[kinds.indexOf(kind)] ?? '');
			const wanted = exceptions[`${method} ${path}`]?.[name] ?? general;
			const answered = wanted === 'ok' && status !== 401 && status !== 403 ? 'ok' : String(status);
			t.is(answered, wanted, `${name}: ${method} ${path}`);
		};
		await Promise.all(callers.map(ask));
		if (kind === 'admin') {
			await call('POST', `/admin/organizations/${victim.id}/activate`, {Authorization: `Bearer ${tokens.admin}`});
		}
	};
	const ends = ([, method, path]: string[]) => method === 'DELETE' && path === '/portal/organization';
	const all = rows(specified);
	// Deletions of the organization come last.
	for (const [kind = '', method = '', path = ''] of [...all.filter((row) => !ends(row)), ...all.filter(ends)]) {
		await walk(kind, method, path);
	}
});
