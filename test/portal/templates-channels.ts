import {randomUUID} from 'node:crypto';
import test from 'ava';
import {member, portalOf} from '../helpers/portal.ts';
import {invalid, refused, tooLow} from './_refused.ts';

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
