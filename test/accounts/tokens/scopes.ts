import test from 'ava';
import {allScopes, includesScope, presets} from '../../../src/platform/config/operator-scopes.ts';
import {routes} from '../../../src/routes.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous, type Caller, withKey} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

type Made = {id: string; token: string; scopes: string[]; expiresAt: string | null};

const tokenOf = async (body: object, maker = admin(service)): Promise<Made> => {
	const {status, body: made, text} = await maker.post('/admin/tokens', {name: crypto.randomUUID(), ...body});
	if (status !== 201) {
		throw new Error(`a token got ${status}: ${text}`);
	}

	return made as Made;
};

const ask = (caller: Caller, method: string, path: string) => {
	const send = caller[method.toLowerCase() as 'get'];
	return method === 'GET' || method === 'DELETE' ? send(path) : (send as Caller['post'])(path, {});
};

const UUID = '00000000-0000-4000-8000-000000000000';
const concrete = (path: string, orgId: string): string =>
	path.replace(':orgId', orgId).replace(':tier', 'sdk').replaceAll(/:\w+/g, UUID);

const operatorRoutes = routes.filter(({credential}) => credential === 'admin');

test('every route of operators wants a scope, but for whoami', (t) => {
	t.true(operatorRoutes.length > 70);
	const paths = operatorRoutes.filter(({scope}) => scope === null).map(({path}) => path);
	t.deepEqual(paths, ['/admin/whoami']);
	t.is(operatorRoutes.find(({path}) => path.endsWith('/matches/simulate'))?.scope, 'matches:read');
	t.deepEqual(
		operatorRoutes
			.filter(({scope}) => scope === 'moderation')
			.map(({path}) => path.replace('/admin/organizations/:orgId', ''))
			.toSorted(),
		[
			...['/activate', '/admin/reports', '/admin/reports/:id', '/admin/reports/:id/close'],
			...['/domains/:id/approve', '/domains/:id/reject', '/links/:id/block', '/links/:id/unblock', '/plan', '/suspend'],
		],
	);
});

test('what the operator decides on an organization is refused to every token that is bound to it', async (t) => {
	const acme = await organization(service);
	const path = `/admin/organizations/${acme.id}`;
	const hostname = `${acme.orgKey.toLowerCase()}.example.net`;
	const {body: domain} = await admin(service).post(`${path}/domains`, {hostname});
	t.is((await admin(service).post(`${path}/domains/${domain.id}/reject`)).status, 200);
	t.is((await admin(service).post(`${path}/suspend`)).status, 200);
	const before = await admin(service).get(path);
	for (const scopes of [['admin'], allScopes.filter((scope) => scope !== 'moderation')]) {
		const {token, scopes: given} = await tokenOf({scopes, organization: acme.orgKey});
		t.false(given.includes('moderation'));
		const bound = withKey(service, token);
		for (const [method, route, body] of [
			['post', `/domains/${domain.id}/approve`],
			['post', `/domains/${domain.id}/reject`],
			['post', '/suspend'],
			['post', '/activate'],
			['put', '/plan', {plan: 'ENTERPRISE'}],
		] as const) {
			const answer = await bound[method](`${path}${route}`, body);
			t.like(answer, {status: 403, body: {message: 'The token lacks the scope moderation'}}, route);
		}

		const {organization: reached, scopes: named} = (await bound.get('/admin/whoami')).body;
		t.deepEqual([reached, named], [{id: acme.id, orgKey: acme.orgKey, name: acme.name}, given]);
	}

	t.deepEqual((await admin(service).get(path)).body, before.body);
	const {token} = await tokenOf({scopes: ['moderation']});
	t.is((await withKey(service, token).post(`${path}/activate`)).status, 200);
	t.is((await withKey(service, token).post(`${path}/domains/${domain.id}/approve`)).status, 200);
});

test('moderation is in the preset admin alone, and a token of one organization is not given it by name', async (t) => {
	const found = Object.entries(presets).flatMap(([name, scopes]) => (scopes.includes('moderation') ? [name] : []));
	t.deepEqual(found, ['admin']);
	const {orgKey} = await organization(service);
	for (const scopes of [['moderation'], ['admin', 'moderation']]) {
		const body = {name: crypto.randomUUID(), scopes, organization: orgKey};
		const refused = await admin(service).post('/admin/tokens', body);
		t.like(refused, {status: 400, body: {details: [{field: 'scopes'}]}});
		t.regex(refused.body.details[0].message, /moderation/);
	}
});

test('a token without moderation creates an organization, but not with a plan', async (t) => {
	const {token} = await tokenOf({scopes: ['orgs:write', 'billing:write']});
	const create = (plan?: string | null) =>
		withKey(service, token).post('/admin/organizations', {name: crypto.randomUUID(), plan});
	t.like(await create('ENTERPRISE'), {status: 403, body: {message: 'The token lacks the scope moderation'}});
	t.is((await create()).status, 201);
	t.is((await create(null)).status, 201);
});

test('each route refuses a token of every other scope with 403 that names the one it wants', async (t) => {
	for (const wanted of new Set(operatorRoutes.flatMap(({scope}) => scope ?? []))) {
		const others = allScopes.filter((scope) => !includesScope([scope], wanted));
		const {token} = await tokenOf({scopes: others});
		for (const {method, path, scope} of operatorRoutes.filter((one) => one.scope === wanted)) {
			const answer = await ask(withKey(service, token), method, concrete(path, UUID));
			t.is(answer.status, 403, `${method} ${path}`);
			t.is(answer.body.message, `The token lacks the scope ${scope}`);
			t.is(answer.headers['x-error-code'], 'missing_scope');
		}
	}
});

test('each route of an organization is 404 for a token of another one, and reaches the handler with its own', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const {token: foreign} = await tokenOf({scopes: ['admin'], organization: other.orgKey});
	const {token: own} = await tokenOf({scopes: ['admin'], organization: acme.id});
	for (const {method, path} of operatorRoutes.filter(
		(one) => one.path.includes(':orgId') && one.scope !== 'moderation',
	)) {
		for (const named of [acme.id, acme.orgKey, acme.id.toUpperCase()]) {
			const answer = await ask(withKey(service, foreign), method, concrete(path, named));
			t.is(answer.status, 404, `${method} ${path}`);
			t.is(answer.body.message, 'Organization not found');
		}
	}

	t.is((await withKey(service, own).get(`/admin/organizations/${acme.orgKey}/links`)).status, 200);
	for (const {method, path, scope} of operatorRoutes.filter((one) => !one.path.includes(':orgId'))) {
		const answer = await ask(withKey(service, own), method, concrete(path, UUID));
		t.is(answer.status, scope === null ? 200 : 403, `${method} ${path}`);
	}
});

// Before the others: it lists all tokens.
test.serial('unknown, revoked and expired tokens are 401, and so are a SERVER key and nonsense', async (t) => {
	const acme = await organization(service);
	const {token, id} = await tokenOf({scopes: ['viewer'], expires: '12h'});
	const {token: revoked, id: revokedId} = await tokenOf({scopes: ['viewer']});
	const list = (by: string) => withKey(service, by).get('/admin/organizations');
	t.is((await list(token)).status, 200);
	t.is((await list(revoked)).status, 200);
	t.is((await admin(service).delete(`/admin/tokens/${revokedId}`)).status, 200);
	t.is((await admin(service).delete(`/admin/tokens/${revokedId}`)).status, 404);
	const {body: listed} = await admin(service).get('/admin/tokens');
	t.like(listed.data[0], {id, expiresAt: '2026-03-11T00:00:00.000Z', lastUsedOn: '2026-03-10'});
	t.is(listed.total, 1);
	t.false(JSON.stringify(listed).includes(token));
	service.clock.advance(12 * 3600 + 1);
	for (const bad of [token, revoked, `${token}x`, 'opl_adm_', acme.serverKey, 'a.b.c', 'x'.repeat(100_000 / 8)]) {
		t.is((await list(bad)).status, 401, bad.slice(0, 20));
	}

	t.is((await anonymous(service).get('/admin/organizations')).status, 401);
});

test('changes of one link by two tokens within an hour are two records', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const tokens = [await tokenOf({scopes: ['links:write']}), await tokenOf({scopes: ['links:write']})];
	for (const [index, {token}] of [...tokens, ...tokens].entries()) {
		const body = {title: `title ${index}`};
		t.is((await withKey(service, token).patch(`/admin/organizations/${acme.id}/links/${id}`, body)).status, 200);
	}

	const {body} = await acme.operator.get('/audit-log');
	const updates = body.data.filter(
		({action, entityId}: Record<string, string>) => action === 'UPDATE' && entityId === id,
	);
	t.deepEqual(
		updates.map(({details}: {details: {repeated?: object}}) => details.repeated),
		updates.map(() => ({count: 2, since: service.clock.now().toISOString()})),
	);
	t.is(new Set(updates.map(({actor}: {actor: {name: string}}) => actor.name)).size, 2);
});

test('what a token does is in the audit log by its name, and no token makes one that may do more', async (t) => {
	const acme = await organization(service);
	const {token} = await tokenOf({name: 'pipeline', scopes: ['links:write', 'system:write'], organization: undefined});
	const pipeline = withKey(service, token);
	const made = await pipeline.post(`/admin/organizations/${acme.id}/links`, {path: '/sale'});
	t.is(made.status, 201);
	const {body} = await acme.operator.get('/audit-log');
	const record = body.data.find(({entityId}: {entityId: string}) => entityId === made.body.id);
	t.like(record.actor, {type: 'ADMIN_BEARER', name: 'pipeline'});
	const more = await pipeline.post('/admin/tokens', {name: 'more', scopes: ['links:read', 'keys:read']});
	t.like(more, {status: 403, body: {message: 'The token lacks the scope keys:read'}});
	t.is((await pipeline.post('/admin/tokens', {name: 'less', scopes: ['links:read']})).status, 201);
	for (const [status, refused] of [
		[409, {name: 'pipeline', scopes: ['links:read']}],
		[400, {name: 'bad', scopes: ['links:delete']}],
		[400, {name: 'bad', scopes: ['viewer'], expires: 'soon'}],
	] as const) {
		t.is((await admin(service).post('/admin/tokens', refused)).status, status);
	}

	t.deepEqual((await pipeline.get('/admin/whoami')).body.scopes, ['links:write', 'system:write']);
	t.is((await admin(service).get('/admin/whoami')).body.scopes, null);
	t.deepEqual((await tokenOf({scopes: ['viewer', 'links:write']})).scopes, [...presets.viewer, 'links:write']);
});

test('no token outlives the one that makes it, and a revocation ends all that came of it, with a record for each', async (t) => {
	const system = {scopes: ['system:write', 'orgs:read']};
	const by = (maker: Made, expires?: string): Promise<Made> =>
		tokenOf({...system, expires}, withKey(service, maker.token));
	const short = await tokenOf({...system, expires: '2h'});
	const inHours = (hours: number) => new Date(service.clock.now().getTime() + hours * 3_600_000).toISOString();
	const [endless, long, first] = [await by(short), await by(short, '90d'), await by(short, '1h')];
	t.deepEqual(
		[short, endless, long, first, await by(first), await by(endless, '3h')].map(({expiresAt}) => expiresAt),
		[inHours(2), inHours(2), inHours(2), inHours(1), inHours(1), inHours(2)],
	);
	const root = await tokenOf(system);
	t.is(root.expiresAt, null);
	const child = await by(root);
	t.is(child.expiresAt, null);
	const family = [root, child, await by(child, '1h'), await by(await by(child), '2h')];
	const other = await tokenOf(system);
	const statuses = (tokens: Made[]) =>
		Promise.all(tokens.map(async ({token}) => (await withKey(service, token).get('/admin/organizations')).status));
	t.deepEqual(await statuses([...family, other]), [200, 200, 200, 200, 200]);
	t.is((await admin(service).delete(`/admin/tokens/${root.id}`)).status, 200);
	t.deepEqual(await statuses([...family, other]), [401, 401, 401, 401, 200]);
	const records = await service.services.db('audit_log').where({action: 'REVOKE'}).pluck('entity_id');
	const found = family.map(({id}) => records.filter((one) => one === id).length);
	t.deepEqual(found, [1, 1, 1, 1]);
	t.is((await admin(service).delete(`/admin/tokens/${child.id}`)).status, 404);
});

test('oplink tokens creates, lists and revokes, and commands take such a token', async (t) => {
	const {orgKey} = await organization(service);
	const cli = (line: string, token = service.adminToken) =>
		runCli(line, {env: {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: token}});
	const made = await cli(`tokens create --name ci-7 --scope links:write --org ${orgKey} --expires 90d`);
	t.is(made.exitCode, 0);
	const token = /^token +(opl_adm_\S+)/m.exec(made.stdout)?.[1] ?? '';
	t.is((await cli(`links create --path /sale --org ${orgKey}`, token)).exitCode, 0);
	const refused = await cli(`stats --org ${orgKey}`, token);
	t.is(refused.exitCode, 3);
	t.regex(refused.stderr, /The token lacks the scope stats:read/);
	t.regex((await cli('tokens list --all')).stdout, /ci-7 +links:write/);
	t.is((await cli('tokens revoke ci-7 --yes')).exitCode, 0);
	t.is((await cli('tokens revoke ci-7 --yes')).exitCode, 4);
	t.is((await cli(`links list --org ${orgKey}`, token)).exitCode, 3);
});
