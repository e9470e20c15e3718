import {randomUUID} from 'node:crypto';
import test from 'ava';
import {link} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {member, portalOf} from '../../helpers/portal.ts';
import {invalid, noRole, refused, tooLow} from './_refused.ts';

const portal = portalOf(test);

const links = '/portal/links';
const notFound = {status: 404, message: 'Link not found'};

test('a developer creates a link as a SERVER key does, and a viewer sees the same one', async (t) => {
	const {organization: acme, caller, user} = await member(portal, {role: 'developer'});
	const made = await caller.post(links, {path: '/sale', shortCode: 'sale', tags: ['spring']});
	t.is(made.status, 201);
	t.like(made.body, {organizationId: acme.id, path: '/sale', shortCode: 'sale', tags: ['spring'], isActive: true});
	t.true(made.body.url.endsWith(`/${acme.orgKey}/sale`));
	t.is(made.body.domain, undefined);

	const viewer = await member(portal, {organization: acme});
	const read = await viewer.caller.get(`${links}/${made.body.id}`);
	t.is(read.status, 200);
	t.is(read.text, (await acme.server.get(`/links/${made.body.id}`)).text);
	t.is(read.body.domain.isDefault, true);
	const list = await viewer.caller.get(`${links}?q=sale&limit=5`);
	t.deepEqual(
		{status: list.status, body: list.body},
		{
			status: 200,
			body: {data: [read.body], total: 1, page: 1, limit: 5},
		},
	);

	const {data} = (await admin(portal).get(`/admin/organizations/${acme.id}/audit-log`)).body;
	const {actor} = data.find(({entityId}: {entityId: string}) => entityId === made.body.id);
	t.deepEqual(actor, {type: 'USER', id: user.id, name: user.name});
});

test('a developer changes and deletes a link, and it stops to resolve', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'developer'});
	const {id, url} = await link(acme);
	const changed = await caller.patch(`${links}/${id}`, {title: 'Spring', isActive: false});
	t.is(changed.status, 200);
	t.like(changed.body, {id, title: 'Spring', isActive: false, path: '/sale'});
	t.is((await caller.get(`${links}?isActive=false`)).body.total, 1);
	t.is((await caller.get(new URL(url).pathname)).status, 410);
	const gone = await caller.delete(`${links}/${id}`);
	t.deepEqual({status: gone.status, body: gone.body}, {status: 200, body: {id, deleted: true}});
	refused(t, await caller.get(`${links}/${id}`), notFound);
	t.is((await caller.get(new URL(url).pathname)).status, 404);
});

test('the QR codes are those of the short URL', async (t) => {
	const {organization: acme, caller} = await member(portal);
	const {id} = await link(acme);
	const svg = await caller.get(`${links}/${id}/qr.svg?size=128`);
	t.is(svg.status, 200);
	t.is(svg.headers['content-type'], 'image/svg+xml');
	t.is(svg.text, (await acme.server.get(`/links/${id}/qr.svg?size=128`)).text);
	const png = await caller.get(`${links}/${id}/qr.png`);
	t.is(png.status, 200);
	t.is(png.headers['content-type'], 'image/png');
	t.deepEqual(png.bytes, (await acme.server.get(`/links/${id}/qr.png`)).bytes);
	refused(t, await caller.get(`${links}/${id}/qr.png?size=1`), invalid);
	refused(t, await caller.get(`${links}/${randomUUID()}/qr.svg`), notFound);
});

test('an Idempotency-Key gives the first answer again, also to a SERVER key', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'developer'});
	const key = {'Idempotency-Key': 'k1'};
	const first = await caller.post(links, {path: '/a'}, key);
	t.is(first.status, 201);
	const again = await caller.post(links, {path: '/a'}, key);
	t.deepEqual([again.status, again.text], [201, first.text]);
	t.is((await acme.server.post('/links', {path: '/a'}, key)).text, first.text);
	const other = await caller.post(links, {path: '/b'}, key);
	t.is(other.status, 409);
	t.is((await caller.get(links)).body.total, 1);
});

test('plan, app configuration, quota and conflict bind a member as they bind a key', async (t) => {
	const without = await member(portal, {plan: null, role: 'developer'});
	refused(t, await without.caller.post(links, {path: '/a'}), {
		status: 402,
		message: 'Select a plan first',
		code: 'PLAN_NOT_SELECTED',
	});
	const unconfigured = await member(portal, {appConfig: null, role: 'developer'});
	refused(t, await unconfigured.caller.post(links, {path: '/a'}), {
		status: 428,
		message: 'Register an app configuration before the first link',
		code: 'APP_CONFIG_REQUIRED',
	});
	const {organization: acme, caller} = await member(portal, {plan: 'STARTER', role: 'developer'});
	t.is((await caller.post(links, {path: '/a', shortCode: 'a'})).status, 201);
	refused(t, await caller.post(links, {path: '/b', shortCode: 'a'}), {
		status: 409,
		message: "Short code 'a' is already in use",
	});
	await portal.services.db('link_counts').where({organization_id: acme.id}).update({links: 50});
	const full = await caller.post(links, {path: '/c'});
	refused(t, full, {status: 402, message: "You've reached your links limit.", code: 'QUOTA_EXCEEDED'});
	t.is(full.body.quota, 'links');
});

test('a link of another organization is 404 on every route', async (t) => {
	const {caller} = await member(portal, {role: 'owner'});
	const {organization: other} = await member(portal);
	const {id} = await link(other);
	for (const unknown of [id, randomUUID()]) {
		const one = `${links}/${unknown}`;
		for (const path of [one, `${one}/qr.svg`, `${one}/qr.png`, `${one}/stats`]) {
			refused(t, await caller.get(path), notFound);
		}

		refused(t, await caller.patch(one, {title: 'Mine'}), notFound);
		refused(t, await caller.patch(one, {}), notFound);
		refused(t, await caller.delete(one), notFound);
	}

	t.is((await caller.get(links)).body.total, 0);
	t.is((await other.server.get(`/links/${id}`)).status, 200);
});

test('an analyst can only read links, which requires a role', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	const {id} = await link(acme);
	refused(t, await caller.post(links, {path: '/a'}), tooLow);
	refused(t, await caller.patch(`${links}/${id}`, {title: 'x'}), tooLow);
	refused(t, await caller.delete(`${links}/${id}`), tooLow);
	t.is((await caller.get(`${links}/${id}`)).status, 200);
	const nobody = await member(portal, {organization: acme, role: null});
	refused(t, await nobody.caller.get(links), noRole);
	refused(t, await nobody.caller.get(`${links}/${id}/stats`), noRole);
});

test('bad values are 400, unknown fields among them', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	refused(t, await caller.post(links, {}), invalid);
	refused(t, await caller.post(links, {path: '/a', unknown: 1}), invalid);
	refused(t, await caller.post(links, [{path: '/a'}]), invalid);
	refused(t, await caller.get(`${links}?page=0`), invalid);
	refused(t, await caller.get(`${links}/nonsense`), invalid);
	refused(t, await caller.get(`${links}/nonsense/stats`), invalid);
	t.is((await caller.post(links, '{')).status, 400);
	t.is((await caller.post(links, '{}', {'Content-Type': 'text/plain'})).status, 415);
});
