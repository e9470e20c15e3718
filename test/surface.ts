import test from 'ava';
import {reservedSegments} from '../src/accounts/organizations/org-key.ts';
import {routes, surfaces} from '../src/routes.ts';
import {organization} from './helpers/builders.ts';
import {type Answer, anonymous, type Headers} from './helpers/callers.ts';
import {member, ops, portalOf} from './helpers/portal.ts';

/**
 * Written by hand from contract/hosts 7 and contract/portal 2: every route there is, and who may call it. A role
 * stands for a session of at least that role, `session` for one of any, `user` for one without an organization too.
 * Braces hold alternatives, as in a shell.
 */
const specified = `
/health/{live,ready}                                           none:GET
/{openapi.json,docs,metrics,sign-in}                           none:GET
/internal/tls/ask                                              none:GET
/.well-known/{apple-app-site-association,assetlinks.json,security.txt} none:GET
/report                                                        none:GET,POST
/match                                                         none:POST
/links                                                         serverKey:POST,GET
/links/:id                                                     serverKey:GET,PATCH,DELETE
/links/:id/{qr.svg,qr.png}                                     serverKey:GET
/sdk/{session,identity,identity/clear,links,events}            clientKey:POST
/admin/{status,doctor,whoami,links}                            admin:GET
/admin/{matches/:id,clicks/stream}                             admin:GET
/admin/webhooks/{events,events/:id}                            admin:GET
/admin/billing/{events,events/:id}                             admin:GET
/admin/{webhooks,billing}/events/:id/replay                    admin:POST
/admin/domains/aliases                                         admin:GET
/admin/reports                                                 admin:GET
/admin/reports/:id                                             admin:GET
/admin/reports/:id/close                                       admin:POST
/admin/{organizations,tokens}                                  admin:GET,POST
/admin/tokens/:id                                              admin:DELETE
/admin/organizations/:orgId                                    admin:GET,PATCH,DELETE
/admin/organizations/:orgId/{suspend,activate}                 admin:POST
/admin/organizations/:orgId/plan                               admin:PUT
/admin/organizations/:orgId/{audit-log,api-keys}               admin:GET
/admin/organizations/:orgId/api-keys/:tier/regenerate          admin:POST
/admin/organizations/:orgId/api-keys/:id                       admin:DELETE
/admin/organizations/:orgId/app-config                         admin:GET,PUT
/admin/organizations/:orgId/{domains,templates,channels}       admin:GET,POST
/admin/organizations/:orgId/domains/:id                        admin:PATCH,DELETE
/admin/organizations/:orgId/domains/:id/{verify,approve}       admin:POST
/admin/organizations/:orgId/domains/:id/{reject,default}       admin:POST
/admin/organizations/:orgId/domains/:id/unknown-codes          admin:GET
/admin/organizations/:orgId/{templates,channels}/:id           admin:GET,PATCH,DELETE
/admin/organizations/:orgId/links                              admin:GET,POST
/admin/organizations/:orgId/links/export                       admin:GET
/admin/organizations/:orgId/links/import                       admin:POST
/admin/organizations/:orgId/links/:id                          admin:GET,PATCH,DELETE
/admin/organizations/:orgId/links/:id/{block,unblock}          admin:POST
/admin/organizations/:orgId/links/:id/{qr.svg,qr.png}          admin:GET
/admin/organizations/:orgId/{stats,stats/funnel,usage,app-status} admin:GET
/admin/organizations/:orgId/{events,devices,matches}           admin:GET
/admin/organizations/:orgId/{devices/:deviceId,matches/:id}    admin:GET
/admin/organizations/:orgId/matches/simulate                   admin:POST
/admin/organizations/:orgId/devices/:deviceId/data             admin:GET,DELETE
/admin/organizations/:orgId/users/:externalUserId/data         admin:GET,DELETE
/admin/organizations/:orgId/export/{clicks,events,matches}     admin:GET
/admin/organizations/:orgId/webhook-endpoints                  admin:GET,POST
/admin/organizations/:orgId/webhook-endpoints/:id              admin:GET,PATCH,DELETE
/admin/organizations/:orgId/webhook-endpoints/:id/{rotate,test,replay,deliveries/:deliveryId/replay} admin:POST
/admin/organizations/:orgId/webhook-endpoints/:id/deliveries   admin:GET
/webhooks/idp                                                  signature:POST
/webhook/{gateway-a,gateway-b}                                 signature:POST
/portal/onboarding/state                                       user:GET
/portal/onboarding/create-organization                         user:POST
/portal/onboarding/select-plan                                 owner:POST
/portal/organization                                           viewer:GET admin-role:PATCH owner:DELETE
/portal/team                                                   viewer:GET
/portal/team/:userId                                           admin-role:PATCH,DELETE
/portal/team/invitations                                       viewer:GET admin-role:POST
/portal/team/invitations/:id                                   admin-role:DELETE
/portal/billing/pricing                                        none:GET
/portal/billing/{change-plan,cancel,resume,renew}              owner:POST
/portal/billing/{checkout-session,portal-session}              owner:POST
/portal/billing/{subscription,subscription/active}             owner:GET
/portal/billing/{invoices,invoices/:id,payment-methods}        owner:GET
/portal/api-keys                                               session:GET
/portal/api-keys/:tier/regenerate                              developer:POST
/portal/app-config                                             viewer:GET developer:PUT
/portal/{links,templates,channels}                             viewer:GET developer:POST
/portal/{links,templates,channels}/:id                         viewer:GET developer:PATCH,DELETE
/portal/links/:id/{qr.svg,qr.png,stats}                        viewer:GET
/portal/domains                                                viewer:GET admin-role:POST
/portal/domains/:id                                            admin-role:PATCH,DELETE
/portal/domains/:id/{verify,default}                           admin-role:POST
/portal/domains/:id/unknown-codes                              viewer:GET
/portal/{dashboard,funnel,usage}                               viewer:GET
/portal/{matches,matches/:id,events,devices,devices/:deviceId,app-status} analyst:GET
/portal/audit-log                                              admin-role:GET
/portal/export/{clicks,events,matches}                         admin-role:GET
/portal/webhook-endpoints                                      admin-role:GET,POST
/portal/webhook-endpoints/:id                                  admin-role:GET,PATCH,DELETE
/portal/webhook-endpoints/:id/{rotate,test,replay,deliveries/:deliveryId/replay} admin-role:POST
/portal/webhook-endpoints/:id/deliveries                       admin-role:GET
/portal/admin/billing/organizations/:orgId/plan                ops:POST
/dev/session                                                   ops:GET
/dev/match                                                     ops:POST
/:orgKey/:shortCode/data                                       none:GET
/:orgKey/:shortCode/signals                                    none:POST
/:orgKey/:shortCode                                            none:GET
/                                                              none:GET
/:shortCode                                                    none:GET
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

/** The kind, the method and the path of each route of `specified`. */
const specifiedRoutes = rows(specified).flatMap(([path = '', ...words]) => {
	const [start = '', alternatives = '', end = ''] = path.split(/[{}]/);
	const paths = alternatives.split(',').map((alternative) => start + alternative + end);
	return words.flatMap((word) => {
		const [kind = '', methods = ''] = word.split(':');
		return methods.split(',').flatMap((method) => paths.map((one) => ({kind, method, path: one})));
	});
});

const portal = portalOf(test);

test('every surface has a reserved first segment, because all other paths are links', (t) => {
	const segments = new Set(surfaces.map(({path}) => path.split('/')[1] ?? ''));
	t.true(segments.size > 10);
	t.deepEqual(
		[...segments].filter((segment) => !reservedSegments.has(segment)),
		[],
	);
});

test('the routes of the server are those of the specification, with their credentials and roles', (t) => {
	const kindOf = ({credential, role}: (typeof routes)[number]) =>
		credential === 'session' ? (role?.replace(/^admin$/, 'admin-role') ?? 'session') : credential;
	const found = routes.map((route) => `${kindOf(route)} ${route.method} ${route.path}`).toSorted();
	t.deepEqual(found, specifiedRoutes.map(({kind, method, path}) => `${kind} ${method} ${path}`).toSorted());
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
const call = (method: string, path: string, headers: Headers): Promise<Answer> => {
	const caller = anonymous(portal);
	switch (method) {
		case 'GET':
			// A stream has no end to wait for.
			return path.startsWith('/admin/clicks/stream') ? caller.head(path, headers) : caller.get(path, headers);
		case 'DELETE':
			return caller.delete(path, headers);
		default:
			return caller[method.toLowerCase() as 'post' | 'put' | 'patch'](path, {}, headers);
	}
};

/**
 * All callers of `expected` and their requests. The operator's organization is a separate one, because it may be
 * deleted.
 */
const everybody = async () => {
	const acme = await organization(portal);
	const {clerkOrgId: acmeAtProvider, user: roleless} = await member(portal, {role: null, organization: acme});
	const {user: removed} = await member(portal, {role: 'owner', organization: acme});
	portal.provider.removeMember(acmeAtProvider, removed.clerkUserId);
	await portal.services.db('org_members').where({user_id: removed.id}).delete();
	const members = (['viewer', 'analyst', 'developer', 'admin', 'owner'] as const).map(async (role) => {
		const {user, clerkOrgId} = await member(portal, {role, organization: acme});
		return [role === 'admin' ? 'admin-role' : role, {user: user.clerkUserId, organization: clerkOrgId}] as const;
	});
	const operator = ops(portal);
	// The ops organization stays unmirrored, even when the provider is asked.
	portal.provider.removeMember(portal.provider.opsOrganization, operator.clerkUserId);
	const sessions = {
		...Object.fromEntries(await Promise.all(members)),
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
	const walk = async ({kind, method, path}: (typeof specifiedRoutes)[number]) => {
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
	// Deletions of the organization come last.
	const isLast = ({method, path}: {method: string; path: string}) =>
		`${method} ${path}` === 'DELETE /portal/organization';
	for (const route of specifiedRoutes.toSorted((one, other) => Number(isLast(one)) - Number(isLast(other)))) {
		await walk(route);
	}
});
