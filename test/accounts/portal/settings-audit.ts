import {randomUUID} from 'node:crypto';
import test from 'ava';
import {exampleAppConfig} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {member, ops, portalOf, startPortal} from '../../helpers/portal.ts';
import {invalid, noRole, refused, tooLow} from './_refused.ts';

const portal = portalOf(test);

for (const {path, created, change, missing, name} of [
	{
		path: '/portal/templates',
		created: {name: 'Launch', path: '/launch', tags: ['spring']},
		change: {name: 'Launch 2'},
		missing: 'Template not found',
		name: 'template',
	},
	{
		path: '/portal/channels',
		created: {name: 'podcast'},
		change: {name: 'radio'},
		missing: 'Channel not found',
		name: 'channel',
	},
]) {
	test(`a developer makes, changes and deletes a ${name}, and a viewer sees it`, async (t) => {
		const {organization: acme, caller} = await member(portal, {role: 'developer'});
		const viewer = await member(portal, {organization: acme});
		const before = (await viewer.caller.get(path)).body.total;
		const made = await caller.post(path, created);
		t.is(made.status, 201);
		t.like(made.body, created);
		const one = `${path}/${made.body.id}`;
		const changed = await caller.patch(one, change);
		t.deepEqual({status: changed.status, body: changed.body}, {status: 200, body: {...made.body, ...changed.body}});
		t.like(changed.body, {...created, ...change});
		const read = await viewer.caller.get(one);
		t.deepEqual({status: read.status, body: read.body}, {status: 200, body: changed.body});
		const list = await viewer.caller.get(`${path}?limit=1&page=1`);
		t.is(list.status, 200);
		t.like(list.body, {total: before + 1, page: 1, limit: 1});
		t.is(list.body.data.length, 1);
		const gone = await caller.delete(one);
		t.deepEqual({status: gone.status, body: gone.body}, {status: 200, body: {id: made.body.id, deleted: true}});
		refused(t, await viewer.caller.get(one), {status: 404, message: missing});
	});

	test(`a ${name} of another organization is 404 on every route`, async (t) => {
		const {caller} = await member(portal, {role: 'owner'});
		const other = await member(portal, {role: 'developer'});
		const {id} = (await other.caller.post(path, created)).body;
		for (const unknown of [id, randomUUID()]) {
			refused(t, await caller.get(`${path}/${unknown}`), {status: 404, message: missing});
			refused(t, await caller.patch(`${path}/${unknown}`, change), {status: 404, message: missing});
			refused(t, await caller.delete(`${path}/${unknown}`), {status: 404, message: missing});
		}

		t.false((await caller.get(path)).body.data.some((one: {id: string}) => one.id === id));
		t.is((await other.caller.get(`${path}/${id}`)).status, 200);
	});

	test(`an analyst changes no ${name}`, async (t) => {
		const {caller} = await member(portal, {role: 'analyst'});
		refused(t, await caller.post(path, created), tooLow);
		refused(t, await caller.patch(`${path}/${randomUUID()}`, change), tooLow);
		refused(t, await caller.delete(`${path}/${randomUUID()}`), tooLow);
		t.is((await caller.get(path)).status, 200);
	});

	test(`bad values of a ${name} are 400`, async (t) => {
		const {caller} = await member(portal, {role: 'developer'});
		refused(t, await caller.post(path, {}), invalid);
		refused(t, await caller.post(path, {...created, unknown: 1}), invalid);
		refused(t, await caller.get(`${path}/nonsense`), invalid);
		refused(t, await caller.get(`${path}?limit=101`), invalid);
	});
}

test('a name in use is 409', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	refused(t, await caller.post('/portal/channels', {name: 'email'}), {
		status: 409,
		message: "Channel 'email' already exists",
	});
	await caller.post('/portal/templates', {name: 'Launch'});
	refused(t, await caller.post('/portal/templates', {name: 'Launch'}), {
		status: 409,
		message: "A template named 'Launch' already exists",
	});
});

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
	const set = await caller.put(path, exampleAppConfig);
	t.deepEqual({status: set.status, body: set.body}, {status: 200, body: stored});
	const read = await viewer.caller.get(path);
	t.deepEqual({status: read.status, body: read.body}, {status: 200, body: stored});

	const {data} = (await (await member(portal, {organization: acme, role: 'admin'})).caller.get('/portal/audit-log'))
		.body;
	const [{action, entityType, actor}] = data.filter(({actor: {type}}: {actor: {type: string}}) => type === 'USER');
	t.deepEqual(
		{action, entityType, actor},
		{action: 'UPDATE', entityType: 'AppConfig', actor: {type: 'USER', id: user.id, name: user.name}},
	);
});

test('writing requires the developer role, and reading any role', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	refused(t, await caller.put(path, {}), tooLow);
	t.deepEqual((await caller.get(path)).body, stored);
	refused(t, await (await member(portal, {organization: acme, role: null})).caller.get(path), noRole);
});

test('a bad one is 400 with every fault, and changes nothing', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	const answer = await caller.put(path, {ios: {teamId: 'x'}, minimumConfidence: 'certain', unknown: 1});
	refused(t, answer, invalid);
	const fields = answer.body.details.map(({field}: {field: string}) => field);
	t.true(
		['minimumConfidence', 'unknown'].every((field) => fields.includes(field)),
		fields.join(),
	);
	t.deepEqual((await caller.get(path)).body, stored);
});

const auditPath = '/portal/audit-log';

test('an admin reads the records with their actors, newest first', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const {organization: acme, caller, user} = await member(own, {role: 'admin'});
	const {caller: operator, clerkUserId, email} = ops(own);
	const step = () => own.clock.advance(1);
	step();
	const made = await caller.post('/portal/channels', {name: 'podcast'}, {'X-Request-Id': 'request-1'});
	const at = own.clock.now().toISOString();
	step();
	await acme.server.post('/links', {path: '/by-key'});
	step();
	await operator.post(`/portal/links?orgId=${acme.id}`, {path: '/by-ops'});
	step();
	await operator.post(`/portal/admin/billing/organizations/${acme.id}/plan`, {plan: 'SCALE'});
	step();
	await admin(own).patch(`/admin/organizations/${acme.id}`, {contactEmail: 'mona@acme.test'});

	const {status, body} = await caller.get(`${auditPath}?limit=5`);
	t.is(status, 200);
	t.is(body.data.length, 5);
	const records = body.data as Array<{action: string; entityType: string; actor: {type: string; id: string}}>;
	t.deepEqual(
		records.map(({action, entityType, actor: {type}}) => [action, entityType, type]),
		[
			['UPDATE', 'Organization', 'ADMIN_BEARER'],
			['SET_PLAN', 'Organization', 'ADMIN'],
			['CREATE', 'Link', 'ADMIN_PASSTHROUGH'],
			['CREATE', 'Link', 'API_KEY'],
			['CREATE', 'Channel', 'USER'],
		],
	);
	t.deepEqual(
		records.slice(1, 3).map(({actor}) => actor),
		[
			{type: 'ADMIN', id: clerkUserId, name: email},
			{type: 'ADMIN_PASSTHROUGH', id: clerkUserId, name: email},
		],
	);
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
	t.deepEqual((await admin(own).get(`/admin/organizations/${acme.id}/audit-log?limit=5`)).body, body);
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
	t.true(data.length > 0);
	t.deepEqual(
		new Set(data.map(({organizationId}: {organizationId: string}) => organizationId)),
		new Set([acme.organization.id]),
	);
});

test('reading requires the admin role, and a bad query is 400', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'developer'});
	refused(t, await caller.get(auditPath), tooLow);
	const {caller: owner} = await member(portal, {organization: acme, role: 'owner'});
	t.is((await owner.get(auditPath)).status, 200);
	refused(t, await owner.get(`${auditPath}?limit=0`), invalid);
});
