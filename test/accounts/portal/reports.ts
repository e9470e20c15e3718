import {randomUUID} from 'node:crypto';
import test from 'ava';
import {link, type TestOrganization} from '../../helpers/builders.ts';
import {anonymous, type Caller} from '../../helpers/callers.ts';
import {member, ops, portalOf} from '../../helpers/portal.ts';
import {iPhoneApp, open, visit} from '../../visits/matches/_phones.ts';
import {refused} from './_refused.ts';

const portal = portalOf(test);

const dashboard = '/portal/dashboard';

/** An answer is repeated to the device that it was given to, in any organization. */
const freshDevice = () => `device-${randomUUID()}`;

/** Two links; the first one is tapped twice and led to a match and an event, the second once, and by a crawler. */
const story = async (acme: TestOrganization, caller: Caller) => {
	const {address} = caller;
	const deviceId = freshDevice();
	const [first, second] = [await link(acme, {channel: 'email'}), await link(acme)];
	await visit(portal, first, address);
	const {token} = await visit(portal, first, address);
	await visit(portal, second, address);
	await anonymous(portal).get(new URL(second.url).pathname, {'User-Agent': 'facebookexternalhit/1.1'});
	await open(portal, address, {clipboardToken: token, deviceId}, acme);
	await acme.client.post('/sdk/session', {deviceId});
	await acme.client.post('/sdk/events', {deviceId, eventName: 'signup'});
	return {first, second};
};

test.serial('the dashboard is the admin’s stats of the organization', async (t) => {
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
	t.deepEqual(body, (await acme.operator.get('/stats')).body);
	const {caller: operator} = ops(portal);
	t.deepEqual((await operator.get(`${dashboard}?orgId=${acme.id}`)).body, body);
});

test.serial('a link’s stats are limited to it and to its organization, with the same query', async (t) => {
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
	const {caller: stranger} = await member(portal, {role: 'owner'});
	refused(t, await stranger.get(`/portal/links/${first.id}/stats`), {status: 404, message: 'Link not found'});
});

test('the usage shows use and limit of each quota', async (t) => {
	const {organization: acme, clerkOrgId, caller} = await member(portal);
	await member(portal, {organization: acme, role: 'owner'});
	const invite = (email: string) => portal.provider.invitation({organization: clerkOrgId, email});
	invite('open@acme.test');
	portal.provider.revoke(invite('revoked@acme.test'));
	await story(acme, caller);
	await acme.operator.post('/domains', {hostname: 'usage.acme.test'});
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
	const {clerkOrgId, caller} = await member(portal);
	const countMembers = async () => (await caller.get('/portal/usage')).body.members?.used;
	portal.provider.invitation({organization: clerkOrgId, email: 'open@acme.test'});
	t.is(await countMembers(), 2);
	portal.provider.fail({path: `/organizations/${clerkOrgId}/invitations`, status: 500, times: Infinity});
	t.is(await countMembers(), 1);
});

test.serial('the clicks of the usage are those of the calendar month', async (t) => {
	const {organization: acme, caller} = await member(portal);
	const {url} = await link(acme);
	const clicks = async () => (await caller.get('/portal/usage')).body.clicks.used;
	await anonymous(portal).get(new URL(url).pathname);
	t.is(await clicks(), 1);
	portal.clock.set(new Date('2026-03-31T23:59:59.000Z'));
	t.is(await clicks(), 1);
	portal.clock.advance(1);
	t.is(await clicks(), 0);
});

test('an unlimited quota is null, and without a plan there is no capacity', async (t) => {
	for (const [plan, limit] of [
		['ENTERPRISE', null],
		[null, 0],
	] as const) {
		const {caller} = await member(portal, {plan});
		t.deepEqual((await caller.get('/portal/usage')).body, {
			links: {used: 0, limit},
			appLinks: {used: 0, limit},
			clicks: {used: 0, limit},
			members: {used: 1, limit},
			domains: {used: 0, limit},
		});
	}
});

test('an analyst reads why a match was made, in the list and by its id', async (t) => {
	const deviceId = freshDevice();
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	const {id, url} = await link(acme);
	await visit(portal, {url}, caller.address);
	await open(portal, caller.address, {...iPhoneApp, deviceId}, acme);
	const list = await caller.get('/portal/matches');
	t.like(list, {status: 200, body: {total: 1, page: 1, limit: 20}});
	const [match] = list.body.data;
	const identity = ['id', 'at', 'organizationId', 'deviceId'];
	const result = ['matched', 'method', 'confidence', 'score', 'linkId', 'reason'];
	t.deepEqual(Object.keys(match), [...identity, ...result, 'signals', 'candidates', 'nobody']);
	t.like(match, {organizationId: acme.id, deviceId, matched: true, linkId: id, reason: null});
	t.is(match.candidates.length, 1);
	t.deepEqual((await caller.get(`/portal/matches/${match.id}`)).body, match);
});

test('events are listed with all the app’s data, newest first', async (t) => {
	const deviceId = freshDevice();
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	const {id: linkId} = await link(acme);
	await acme.client.post('/sdk/session', {deviceId});
	const track = (fields: object) => acme.client.post('/sdk/events', {deviceId, ...fields});
	const now = portal.clock.now();
	const earlier = {eventName: 'earlier', occurredAt: new Date(now.getTime() - 9 * 86_400_000).toISOString()};
	const first = {eventName: 'now', eventId: 'e1', properties: {cart: {total: 3}}, linkId};
	await track(first);
	await track(earlier);
	const {status, body} = await caller.get('/portal/events');
	t.is(status, 200);
	const {data, ...page} = body;
	t.deepEqual(page, {total: 2, page: 1, limit: 20});
	const ofBoth = {deviceId, receivedAt: now.toISOString()};
	t.deepEqual(data, [
		{id: data[0].id, ...first, ...ofBoth, occurredAt: now.toISOString()},
		{id: data[1].id, ...earlier, ...ofBoth, eventId: null, properties: {}, linkId: null},
	]);
	const second = (await caller.get('/portal/events?page=2&limit=1')).body;
	t.deepEqual(second, {data: [data[1]], total: 2, page: 2, limit: 1});

	// The API's document states it, too.
	t.is((await acme.operator.delete(`/devices/${deviceId}/data`)).status, 200);
	t.like((await caller.get('/portal/events')).body, {total: 2, data: [{deviceId: null}, {deviceId: null}]});
});

test.serial('devices are listed with their properties, user and match, newest first', async (t) => {
	const [deviceId, other] = [freshDevice(), freshDevice()];
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	const {id: linkId, url} = await link(acme);
	const {token} = await visit(portal, {url}, caller.address);
	const firstSeenAt = portal.clock.now().toISOString();
	await open(portal, caller.address, {...iPhoneApp, clipboardToken: token, deviceId}, acme);
	portal.clock.advance(60);
	await acme.client.post('/sdk/session', {deviceId: other});
	portal.clock.advance(60);
	const lastSeenAt = portal.clock.now().toISOString();
	const versions = {appVersion: '2.1', sdkVersion: '1.0'};
	const {sessionId} = (await acme.client.post('/sdk/session', {deviceId, ...versions})).body;
	const identity = {externalUserId: 'u7', traits: {plan: 'gold'}};
	await acme.client.post('/sdk/identity', {deviceId, ...identity});

	const {status, body} = await caller.get('/portal/devices');
	t.is(status, 200);
	t.like(body, {total: 2, page: 1, limit: 20, data: [{deviceId: other}]});
	t.deepEqual(body.data[1], {
		id: body.data[1].id,
		deviceId,
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
	const deviceId = freshDevice();
	const {caller} = await member(portal, {role: 'owner'});
	const {organization: other, caller: theirs} = await member(portal, {role: 'analyst'});
	await open(portal, theirs.address, {deviceId}, other);
	await other.client.post('/sdk/events', {deviceId, eventName: 'signup'});
	for (const path of ['/portal/matches', '/portal/events', '/portal/devices']) {
		t.is((await theirs.get(path)).body.total, 1, path);
		t.deepEqual((await caller.get(path)).body, {data: [], total: 0, page: 1, limit: 20});
	}

	const {id} = (await theirs.get('/portal/matches')).body.data[0];
	for (const unknown of [id, randomUUID()]) {
		refused(t, await caller.get(`/portal/matches/${unknown}`), {status: 404, message: 'Match not found'});
	}
});
