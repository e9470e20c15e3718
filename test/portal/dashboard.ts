import test from 'ava';
import {link, type TestOrganization} from '../helpers/builders.ts';
import {admin, anonymous, type Caller} from '../helpers/callers.ts';
import {member, ops, portalOf, startPortal} from '../helpers/portal.ts';
import {open, visit} from '../match/_phones.ts';
import {invalid, noRole, refused} from './_refused.ts';

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
		clicks: {used: 0, limit: null},
		members: {used: 1, limit: null},
		domains: {used: 0, limit: null},
	});
	const without = await member(portal, {plan: null});
	t.deepEqual((await without.caller.get('/portal/usage')).body, {
		links: {used: 0, limit: 0},
		clicks: {used: 0, limit: 0},
		members: {used: 1, limit: 0},
		domains: {used: 0, limit: 0},
	});
});
