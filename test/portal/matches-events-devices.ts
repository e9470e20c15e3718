import {randomUUID} from 'node:crypto';
import test from 'ava';
import {link} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {member, portalOf, startPortal} from '../helpers/portal.ts';
import {iPhoneApp, open, visit} from '../match/_phones.ts';
import {invalid, refused, tooLow} from './_refused.ts';

const portal = portalOf(test);

const lists = ['/portal/matches', '/portal/events', '/portal/devices'];

test('an analyst reads why a match was made, in the list and by its id', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	const {id, url} = await link(acme);
	await visit(portal, {url}, caller.address);
	await open(portal, caller.address, {...iPhoneApp, deviceId: 'device-0001'}, acme);
	const list = await caller.get('/portal/matches');
	t.is(list.status, 200);
	t.like(list.body, {total: 1, page: 1, limit: 20});
	const [match] = list.body.data;
	t.deepEqual(Object.keys(match), [
		'id',
		'at',
		'organizationId',
		'deviceId',
		'matched',
		'method',
		'confidence',
		'score',
		'linkId',
		'reason',
		'signals',
		'candidates',
		'nobody',
	]);
	t.like(match, {organizationId: acme.id, deviceId: 'device-0001', matched: true, linkId: id, reason: null});
	t.is(match.candidates.length, 1);
	const one = await caller.get(`/portal/matches/${match.id}`);
	t.deepEqual({status: one.status, body: one.body}, {status: 200, body: match});
});

test('events are listed with all the app’s data, newest first', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	const {id: linkId} = await link(acme);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	const track = (fields: object) => acme.client.post('/sdk/events', {deviceId: 'device-0001', ...fields});
	await track({eventName: 'now', eventId: 'e1', properties: {cart: {total: 3}}, linkId});
	await track({eventName: 'earlier', occurredAt: '2026-03-01T08:00:00Z'});
	const {status, body} = await caller.get('/portal/events');
	const now = portal.clock.now().toISOString();
	t.is(status, 200);
	t.deepEqual(body, {
		data: [
			{
				id: body.data[0].id,
				eventId: 'e1',
				eventName: 'now',
				deviceId: 'device-0001',
				properties: {cart: {total: 3}},
				linkId,
				occurredAt: now,
				receivedAt: now,
			},
			{
				id: body.data[1].id,
				eventId: null,
				eventName: 'earlier',
				deviceId: 'device-0001',
				properties: {},
				linkId: null,
				occurredAt: '2026-03-01T08:00:00.000Z',
				receivedAt: now,
			},
		],
		total: 2,
		page: 1,
		limit: 20,
	});
	const second = (await caller.get('/portal/events?page=2&limit=1')).body;
	t.deepEqual(second, {data: [body.data[1]], total: 2, page: 2, limit: 1});

	// The API's document states it, too.
	t.is((await admin(portal).delete(`/admin/organizations/${acme.id}/devices/device-0001/data`)).status, 200);
	const erased = await caller.get('/portal/events');
	t.deepEqual(
		erased.body.data.map(({deviceId}: {deviceId: unknown}) => deviceId),
		[null, null],
	);
});

test('devices are listed with their properties, user and match, newest first', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const {organization: acme, caller} = await member(own, {role: 'analyst'});
	const {id: linkId, url} = await link(acme);
	const {token} = await visit(own, {url}, caller.address);
	const firstSeenAt = own.clock.now().toISOString();
	await open(own, caller.address, {...iPhoneApp, clipboardToken: token, deviceId: 'device-0001'}, acme);
	own.clock.advance(60);
	await acme.client.post('/sdk/session', {deviceId: 'device-0002'});
	own.clock.advance(60);
	const lastSeenAt = own.clock.now().toISOString();
	const versions = {appVersion: '2.1', sdkVersion: '1.0'};
	const {sessionId} = (await acme.client.post('/sdk/session', {deviceId: 'device-0001', ...versions})).body;
	const identity = {externalUserId: 'u7', traits: {plan: 'gold'}};
	await acme.client.post('/sdk/identity', {deviceId: 'device-0001', ...identity});

	const {status, body} = await caller.get('/portal/devices');
	t.is(status, 200);
	t.like(body, {total: 2, page: 1, limit: 20});
	t.is(body.data[0].deviceId, 'device-0002');
	t.deepEqual(body.data[1], {
		id: body.data[1].id,
		deviceId: 'device-0001',
		...iPhoneApp,
		...versions,
		sessionId,
		...identity,
		matchedLinkId: linkId,
		matchedAt: firstSeenAt,
		firstSeenAt,
		lastSeenAt,
	});
});

test('records of another organization are in no list, and its match is 404', async (t) => {
	const {caller} = await member(portal, {role: 'owner'});
	const {organization: other, caller: theirs} = await member(portal, {role: 'analyst'});
	await open(portal, theirs.address, {deviceId: 'device-0001'}, other);
	await other.client.post('/sdk/events', {deviceId: 'device-0001', eventName: 'signup'});
	for (const path of lists) {
		t.is((await theirs.get(path)).body.total, 1, path);
		const {status, body} = await caller.get(path);
		t.deepEqual({status, body}, {status: 200, body: {data: [], total: 0, page: 1, limit: 20}});
	}

	const {id} = (await theirs.get('/portal/matches')).body.data[0];
	for (const unknown of [id, randomUUID()]) {
		refused(t, await caller.get(`/portal/matches/${unknown}`), {status: 404, message: 'Match not found'});
	}
});

test('a viewer cannot read them, and a bad query is 400', async (t) => {
	const {organization: acme, caller} = await member(portal);
	const analyst = await member(portal, {organization: acme, role: 'analyst'});
	for (const path of lists) {
		refused(t, await caller.get(path), tooLow);
		refused(t, await analyst.caller.get(`${path}?limit=101`), invalid);
		refused(t, await analyst.caller.get(`${path}?page=0`), invalid);
	}

	refused(t, await caller.get(`/portal/matches/${randomUUID()}`), tooLow);
	refused(t, await analyst.caller.get('/portal/matches/nonsense'), invalid);
});
