import test from 'ava';
import {auditOf} from '../../helpers/audit.ts';
import {exampleAppConfig} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {member, ops} from '../../helpers/portal.ts';
import {portal} from './_portal.ts';
import {refused} from './_refused.ts';

for (const [name, {path, created, change, missing}] of Object.entries({
	template: {
		path: '/portal/templates',
		created: {name: 'Launch', path: '/launch', tags: ['spring']},
		change: {name: 'Launch 2'},
		missing: 'Template not found',
	},
	channel: {
		path: '/portal/channels',
		created: {name: 'podcast'},
		change: {name: 'radio'},
		missing: 'Channel not found',
	},
})) {
	test(`a developer makes, changes and deletes a ${name}, and a viewer sees it`, async (t) => {
		const {organization: acme, caller} = await member(portal, {role: 'developer'});
		const viewer = await member(portal, {organization: acme});
		const before = (await viewer.caller.get(path)).body.total;
		const made = await caller.post(path, created);
		t.like(made, {status: 201, body: created});
		const one = `${path}/${made.body.id}`;
		const changed = await caller.patch(one, change);
		t.like(changed, {status: 200, body: {...created, ...change, id: made.body.id}});
		t.deepEqual((await viewer.caller.get(one)).body, changed.body);
		const list = (await viewer.caller.get(`${path}?limit=1&page=1`)).body;
		t.like(list, {total: before + 1, page: 1, limit: 1});
		t.is(list.data.length, 1);
		t.like(await caller.delete(one), {status: 200, body: {id: made.body.id, deleted: true}});
		refused(t, await viewer.caller.get(one), {status: 404, message: missing});
	});
}

const path = '/portal/app-config';
const stored = {
	...exampleAppConfig,
	fallbackUrl: null,
	og: {title: null, description: null, imageUrl: null},
	probabilisticMatching: true,
	minimumConfidence: 'low',
};

test('there is no configuration until it is set; then a viewer can read it', async (t) => {
	const {organization: acme, caller, user} = await member(portal, {appConfig: null, role: 'developer'});
	const viewer = await member(portal, {organization: acme});
	refused(t, await viewer.caller.get(path), {status: 404, message: 'App configuration not found'});
	for (const answer of [await caller.put(path, exampleAppConfig), await viewer.caller.get(path)]) {
		t.is(answer.status, 200);
		t.deepEqual(answer.body, stored);
	}

	const actor = {type: 'USER', id: user.id, name: user.name};
	t.like(await auditOf(portal, acme.id, 'AppConfig'), [{action: 'UPDATE', actor}]);
});

const auditPath = '/portal/audit-log';

test.serial('an admin reads the records with their actors, newest first', async (t) => {
	const {organization: acme, caller, user} = await member(portal, {role: 'admin'});
	const {caller: operator, clerkUserId, email} = ops(portal);
	const step = () => portal.clock.advance(1);
	step();
	const made = await caller.post('/portal/channels', {name: 'podcast'}, {'X-Request-Id': 'request-1'});
	const at = portal.clock.now().toISOString();
	step();
	await acme.server.post('/links', {path: '/by-key'});
	step();
	await operator.post(`/portal/links?orgId=${acme.id}`, {path: '/by-ops'});
	step();
	await operator.post(`/portal/admin/billing/organizations/${acme.id}/plan`, {plan: 'SCALE'});
	step();
	await admin(portal).patch(`/admin/organizations/${acme.id}`, {contactEmail: 'mona@acme.test'});

	const {status, body} = await caller.get(`${auditPath}?limit=5`);
	t.is(status, 200);
	t.is(body.data.length, 5);
	const byOps = {id: clerkUserId, name: email};
	t.like(body.data, [
		{action: 'UPDATE', entityType: 'Organization', actor: {type: 'ADMIN_BEARER'}},
		{action: 'SET_PLAN', entityType: 'Organization', actor: {type: 'ADMIN', ...byOps}},
		{action: 'CREATE', entityType: 'Link', actor: {type: 'ADMIN_PASSTHROUGH', ...byOps}},
		{action: 'CREATE', entityType: 'Link', actor: {type: 'API_KEY'}},
		{action: 'CREATE', entityType: 'Channel', actor: {type: 'USER'}},
	]);
	t.deepEqual(body.data[4], {
		id: body.data[4].id,
		at,
		action: 'CREATE',
		entityType: 'Channel',
		entityId: made.body.id,
		actor: {type: 'USER', id: user.id, name: user.name},
		organizationId: acme.id,
		requestId: 'request-1',
		details: body.data[4].details,
	});
	t.deepEqual((await acme.operator.get('/audit-log?limit=5')).body, body);
	t.deepEqual((await caller.get(`${auditPath}?limit=1&page=2`)).body.data, [body.data[1]]);
});

test('a refused request leaves no record', async (t) => {
	const {caller} = await member(portal, {role: 'admin'});
	const {total} = (await caller.get(auditPath)).body;
	await caller.post('/portal/channels', {name: 'email'});
	await caller.post('/portal/links', {path: '/a', channel: 'unknown'});
	await caller.post('/portal/api-keys/NONE/regenerate');
	t.is((await caller.get(auditPath)).body.total, total);
});

test('an organization’s records are its own', async (t) => {
	const acme = await member(portal, {role: 'admin'});
	const other = await member(portal, {role: 'admin'});
	await other.caller.post('/portal/links', {path: '/theirs'});
	const {data} = (await acme.caller.get(`${auditPath}?limit=100&orgId=${other.organization.id}`)).body;
	t.deepEqual(
		[...new Set(data.map(({organizationId}: {organizationId: string}) => organizationId))],
		[acme.organization.id],
	);
});
