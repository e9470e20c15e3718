import test from 'ava';
import {admin} from '../helpers/callers.ts';
import {member, ops, portalOf, startPortal} from '../helpers/portal.ts';
import {invalid, refused, tooLow} from './_refused.ts';

const portal = portalOf(test);

const path = '/portal/audit-log';

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

	const {status, body} = await caller.get(`${path}?limit=5`);
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
	t.deepEqual((await caller.get(`${path}?limit=1&page=2`)).body.data, [body.data[1]]);
});

test('a refused request leaves no record', async (t) => {
	const {caller} = await member(portal, {role: 'admin'});
	const {total} = (await caller.get(path)).body;
	await caller.post('/portal/channels', {name: 'email'});
	await caller.post('/portal/links', {path: '/a', channel: 'unknown'});
	await caller.post('/portal/api-keys/NONE/regenerate');
	t.is((await caller.get(path)).body.total, total);
});

test('an organization’s records are its own', async (t) => {
	const acme = await member(portal, {role: 'admin'});
	const other = await member(portal, {role: 'admin'});
	await other.caller.post('/portal/links', {path: '/theirs'});
	const {data} = (await acme.caller.get(`${path}?limit=100&orgId=${other.organization.id}`)).body;
	t.true(data.length > 0);
	t.deepEqual(
		new Set(data.map(({organizationId}: {organizationId: string}) => organizationId)),
		new Set([acme.organization.id]),
	);
});

test('reading requires the admin role, and a bad query is 400', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'developer'});
	refused(t, await caller.get(path), tooLow);
	const {caller: owner} = await member(portal, {organization: acme, role: 'owner'});
	t.is((await owner.get(path)).status, 200);
	refused(t, await owner.get(`${path}?limit=0`), invalid);
});
