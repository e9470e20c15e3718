import test from 'ava';
import {link} from '../../helpers/builders.ts';
import {member} from '../../helpers/portal.ts';
import {portal} from './_portal.ts';
import {refused} from './_refused.ts';

const links = '/portal/links';
const notFound = {status: 404, message: 'Link not found'};

test('a developer creates a link as a SERVER key does, and a viewer sees the same one', async (t) => {
	const {organization: acme, caller, user} = await member(portal, {role: 'developer'});
	const made = await caller.post(links, {path: '/sale', shortCode: 'sale', tags: ['spring']});
	const fields = {organizationId: acme.id, path: '/sale', shortCode: 'sale', tags: ['spring'], isActive: true};
	t.like(made, {status: 201, body: fields});
	t.true(made.body.url.endsWith(`/${acme.orgKey}/sale`));
	t.is(made.body.domain, undefined);

	const viewer = await member(portal, {organization: acme});
	const one = `/links/${made.body.id}`;
	const read = await viewer.caller.get(`/portal${one}`);
	t.like(read, {status: 200, body: {domain: {isDefault: true}}, text: (await acme.server.get(one)).text});
	const list = await viewer.caller.get(`${links}?q=sale&limit=5`);
	t.deepEqual(list.body, {data: [read.body], total: 1, page: 1, limit: 5});
	for (const code of [`${one}/qr.svg?size=128`, `${one}/qr.png`]) {
		t.deepEqual((await viewer.caller.get(`/portal${code}`)).bytes, (await acme.server.get(code)).bytes);
	}

	const {data} = (await acme.operator.get('/audit-log')).body;
	const {actor} = data.find(({entityId}: {entityId: string}) => entityId === made.body.id);
	t.deepEqual(actor, {type: 'USER', id: user.id, name: user.name});
});

test('a developer changes and deletes a link, and it stops to resolve', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'developer'});
	const {id, url} = await link(acme);
	const one = `${links}/${id}`;
	const changed = await caller.patch(one, {title: 'Spring', isActive: false});
	t.like(changed, {status: 200, body: {id, title: 'Spring', isActive: false, path: '/sale'}});
	t.is((await caller.get(`${links}?isActive=false`)).body.total, 1);
	t.is((await caller.get(new URL(url).pathname)).status, 410);
	t.deepEqual((await caller.delete(one)).body, {id, deleted: true});
	for (const path of [one, `${one}/stats`]) {
		refused(t, await caller.get(path), notFound);
	}

	t.is((await caller.get(new URL(url).pathname)).status, 404);
});

test('an Idempotency-Key gives the first answer again, also to a SERVER key', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'developer'});
	const key = {'Idempotency-Key': 'k1'};
	const first = await caller.post(links, {path: '/a'}, key);
	t.is(first.status, 201);
	t.like(await caller.post(links, {path: '/a'}, key), {status: 201, text: first.text});
	t.is((await acme.server.post('/links', {path: '/a'}, key)).text, first.text);
	t.is((await caller.post(links, {path: '/b'}, key)).status, 409);
	t.is((await caller.get(links)).body.total, 1);
});

test('a member creates no link without a plan or an app configuration', async (t) => {
	const message = 'Register an app configuration before the first link';
	for (const [lacking, expected] of [
		[{plan: null}, {status: 402, message: 'Select a plan first', code: 'PLAN_NOT_SELECTED'}],
		[{appConfig: null}, {status: 428, message, code: 'APP_CONFIG_REQUIRED'}],
	] as const) {
		const {caller} = await member(portal, {...lacking, role: 'developer'});
		refused(t, await caller.post(links, {path: '/a'}), expected);
	}
});
