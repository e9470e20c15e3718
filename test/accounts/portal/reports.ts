import {randomUUID} from 'node:crypto';
import test from 'ava';
import {link, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous, type Caller} from '../../helpers/callers.ts';
import {member, ops, portalOf, startPortal} from '../../helpers/portal.ts';
import {iPhoneApp, open, visit} from '../../visits/match/_phones.ts';
import {invalid, noRole, refused, tooLow} from './_refused.ts';

const portal = portalOf(test);

const dashboard = '/portal/dashboard';

/** Two links; the first one is tapped twice and led to a match and an event, the second once, and by a crawler. */
const story = async (acme: TestOrganization, caller: Caller) => {
	const {address} = caller;
	const [first, second] = [await link(acme, {channel: 'email'}), await link(acme)];
	await visit(portal, first, address);
	const {token} = await visit(portal, first, address);
	await visit(portal, second, address);
	await anonymous(portal).get(new URL(second.url).pathname, {'User-Agent': 'facebookexternalhit/1.1'});
	await open(portal, address, {clipboardToken: token, deviceId: 'device-0001'}, acme);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	await acme.client.post('/sdk/events', {deviceId: 'device-0001', eventName: 'signup'});
	return {first, second};
};

test('the dashboard is the admin’s stats of the organization', async (t) => {
	const {organization: acme, caller} = await member(portal);
	const {first, second} = await story(acme, caller);
	const {status, body} = await caller.get(dashboard);
	t.is(status, 200);
	t.deepEqual(Object.keys(body), ['from', 'to', 'interval', 'totals', 'series', 'breakdowns']);
	t.like(body, {from: '2026-02-09T00:00:00.000Z', to: '2026-03-11T00:00:00.000Z', interval: 'day'});
	t.deepEqual(body.totals, {clicks: 3, crawlerViews: 1, matches: 1, events: 1});
	t.is(body.series.length, 30);
	t.deepEqual(body.series.at(-1), {start: '2026-03-10T00:00:00.000Z', clicks: 3, matches: 1, events: 1});
	t.deepEqual(body.breakdowns.link, [
		{key: first.id, count: 2},
		{key: second.id, count: 1},
	]);
	t.deepEqual(body.breakdowns.matchMethod, [{key: 'CLIPBOARD', count: 1}]);
	t.deepEqual(body, (await admin(portal).get(`/admin/organizations/${acme.id}/stats`)).body);
	const {caller: operator} = ops(portal);
	t.deepEqual((await operator.get(`${dashboard}?orgId=${acme.id}`)).body, body);
});

test('a link’s stats are limited to it, with the same query', async (t) => {
	const {organization: acme, caller} = await member(portal);
	const {first, second} = await story(acme, caller);
	const of = async (id: string, query = '') => (await caller.get(`/portal/links/${id}/stats${query}`)).body;
	t.deepEqual((await of(first.id)).totals, {clicks: 2, crawlerViews: 0, matches: 1, events: 1});
	t.deepEqual((await of(second.id)).totals, {clicks: 1, crawlerViews: 1, matches: 0, events: 0});
	const hours = await of(first.id, '?from=2026-03-10T11:00:00Z&to=2026-03-10T13:00:00Z&interval=hour');
	t.deepEqual(hours.series, [
		{start: '2026-03-10T11:00:00.000Z', clicks: 0, matches: 0, events: 0},
		{start: '2026-03-10T12:00:00.000Z', clicks: 2, matches: 1, events: 1},
	]);
	t.deepEqual(hours.breakdowns.link, [{key: first.id, count: 2}]);
});

test('days are those of the timezone', async (t) => {
	const {caller} = await member(portal);
	const {body} = await caller.get(`${dashboard}?timezone=Asia/Tokyo&from=2026-03-10&to=2026-03-11`);
	t.like(body, {from: '2026-03-09T15:00:00.000Z', to: '2026-03-10T15:00:00.000Z'});
	t.is(body.series.length, 1);
});

test('a bad query is 400, and figures require a role', async (t) => {
	const {organization: acme, caller} = await member(portal);
	for (const query of ['interval=week', 'timezone=Mars', 'from=yesterday', 'from=2026-03-02&to=2026-03-01']) {
		refused(t, await caller.get(`${dashboard}?${query}`), invalid);
	}

	const nobody = await member(portal, {organization: acme, role: null});
	refused(t, await nobody.caller.get(dashboard), noRole);
	refused(t, await nobody.caller.get('/portal/usage'), noRole);
});

test('the usage shows use and limit of each quota', async (t) => {
	const {organization: acme, clerkOrgId, caller} = await member(portal);
	await member(portal, {organization: acme, role: 'owner'});
	const invite = (email: string) => portal.provider.invitation({organization: clerkOrgId, email});
	invite('open@acme.test');
	portal.provider.revoke(invite('revoked@acme.test'));
	await story(acme, caller);
	await admin(portal).post(`/admin/organizations/${acme.id}/domains`, {hostname: 'usage.acme.test'});
	const {status, body} = await caller.get('/portal/usage');
	t.is(status, 200);
	t.deepEqual(body, {
		links: {used: 2, limit: 10_000},
		appLinks: {used: 0, limit: 5000},
		clicks: {used: 3, limit: 250_000},
		members: {used: 3, limit: 10},
		domains: {used: 1, limit: 1},
	});
});

test('without the provider only the members are counted', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const {clerkOrgId, caller} = await member(own);
	own.provider.invitation({organization: clerkOrgId, email: 'open@acme.test'});
	t.is((await caller.get('/portal/usage')).body.members.used, 2);
	own.provider.fail({path: '/organizations/:id/invitations', status: 500, times: Number.POSITIVE_INFINITY});
	const {status, body} = await caller.get('/portal/usage');
	t.is(status, 200);
	t.is(body.members.used, 1);
});

test('the clicks of the usage are those of the calendar month', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const {organization: acme, caller} = await member(own);
	const {url} = await link(acme);
	const clicks = async () => (await caller.get('/portal/usage')).body.clicks.used;
	await anonymous(own).get(new URL(url).pathname);
	t.is(await clicks(), 1);
	own.clock.set(new Date('2026-03-31T23:59:59.000Z'));
	t.is(await clicks(), 1);
	own.clock.advance(1);
	t.is(await clicks(), 0);
});

test('an unlimited quota is null, and without a plan there is room for nothing', async (t) => {
	const {caller} = await member(portal, {plan: 'ENTERPRISE'});
	t.deepEqual((await caller.get('/portal/usage')).body, {
		links: {used: 0, limit: null},
		appLinks: {used: 0, limit: null},
		clicks: {used: 0, limit: null},
		members: {used: 1, limit: null},
		domains: {used: 0, limit: null},
	});
	const without = await member(portal, {plan: null});
	t.deepEqual((await without.caller.get('/portal/usage')).body, {
		links: {used: 0, limit: 0},
		appLinks: {used: 0, limit: 0},
		clicks: {used: 0, limit: 0},
		members: {used: 1, limit: 0},
		domains: {used: 0, limit: 0},
	});
});

const records = portalOf(test);
const lists = ['/portal/matches', '/portal/events', '/portal/devices'];

test('an analyst reads why a match was made, in the list and by its id', async (t) => {
	const {organization: acme, caller} = await member(records, {role: 'analyst'});
	const {id, url} = await link(acme);
	await visit(records, {url}, caller.address);
	await open(records, caller.address, {...iPhoneApp, deviceId: 'device-0001'}, acme);
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
	const {organization: acme, caller} = await member(records, {role: 'analyst'});
	const {id: linkId} = await link(acme);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	const track = (fields: object) => acme.client.post('/sdk/events', {deviceId: 'device-0001', ...fields});
	await track({eventName: 'now', eventId: 'e1', properties: {cart: {total: 3}}, linkId});
	await track({eventName: 'earlier', occurredAt: '2026-03-01T08:00:00Z'});
	const {status, body} = await caller.get('/portal/events');
	const now = records.clock.now().toISOString();
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
	t.is((await admin(records).delete(`/admin/organizations/${acme.id}/devices/device-0001/data`)).status, 200);
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
	const {caller} = await member(records, {role: 'owner'});
	const {organization: other, caller: theirs} = await member(records, {role: 'analyst'});
	await open(records, theirs.address, {deviceId: 'device-0001'}, other);
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
	const {organization: acme, caller} = await member(records);
	const analyst = await member(records, {organization: acme, role: 'analyst'});
	for (const path of lists) {
		refused(t, await caller.get(path), tooLow);
		refused(t, await analyst.caller.get(`${path}?limit=101`), invalid);
		refused(t, await analyst.caller.get(`${path}?page=0`), invalid);
	}

	refused(t, await caller.get(`/portal/matches/${randomUUID()}`), tooLow);
	refused(t, await analyst.caller.get('/portal/matches/nonsense'), invalid);
});
