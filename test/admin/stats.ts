import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {createFakeClock, startService} from '../helpers/service.ts';

const android =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

/** A service whose clock a test moves; one organization and one link in it. */
const setup = async (at: string) => {
	const clock = createFakeClock(new Date(at));
	const service = await startService({}, clock);
	const acme = await organization(service);
	const made = await link(acme, {channel: 'email'});
	const {pathname} = new URL(made.url);
	return {
		service,
		clock,
		acme,
		link: made,
		click: (headers: Record<string, string> = {'User-Agent': android}) => anonymous(service).get(pathname, headers),
		stats: async (query = '') => (await admin(service).get(`/admin/organizations/${acme.id}/stats${query}`)).body,
	};
};

test('the default report covers the last 30 days by day in UTC, with today', async (t) => {
	const {service, clock, click, stats, link: made} = await setup('2026-03-10T12:00:00.000Z');
	t.teardown(() => service.stop());
	await click();
	await click();
	clock.set(new Date('2026-03-11T00:00:00.000Z'));
	await click({'User-Agent': 'curl/8', Referer: 'https://news.example/'});
	const body = await stats();
	t.is(body.from, '2026-02-10T00:00:00.000Z');
	t.is(body.to, '2026-03-12T00:00:00.000Z');
	t.is(body.interval, 'day');
	t.deepEqual(body.totals, {clicks: 3, crawlerViews: 0, matches: 0, events: 0});
	t.is(body.series.length, 30);
	t.deepEqual(body.series.slice(-2), [
		{start: '2026-03-10T00:00:00.000Z', clicks: 2, matches: 0, events: 0},
		{start: '2026-03-11T00:00:00.000Z', clicks: 1, matches: 0, events: 0},
	]);
	t.deepEqual(body.breakdowns.platform, [
		{key: 'android', count: 2},
		{key: null, count: 1},
	]);
	t.deepEqual(body.breakdowns.channel, [{key: 'email', count: 3}]);
	t.deepEqual(body.breakdowns.link, [{key: made.id, count: 3}]);
	t.deepEqual(body.breakdowns.referrer, [
		{key: null, count: 2},
		{key: 'news.example', count: 1},
	]);
	t.deepEqual(body.breakdowns.matchMethod, []);
});

test('days follow the timezone, also when clocks change', async (t) => {
	const {service, clock, click, stats} = await setup('2026-03-28T22:30:00.000Z');
	t.teardown(() => service.stop());
	await click();
	clock.set(new Date('2026-03-28T23:30:00.000Z'));
	await click();
	const body = await stats('?from=2026-03-28&to=2026-03-31&timezone=Europe/Berlin');
	t.deepEqual(body.series, [
		{start: '2026-03-27T23:00:00.000Z', clicks: 1, matches: 0, events: 0},
		{start: '2026-03-28T23:00:00.000Z', clicks: 1, matches: 0, events: 0},
		{start: '2026-03-29T22:00:00.000Z', clicks: 0, matches: 0, events: 0},
	]);
});

test('hours and months have no gaps', async (t) => {
	const {service, click, stats} = await setup('2026-01-31T23:59:59.000Z');
	t.teardown(() => service.stop());
	await click();
	const hours = await stats('?from=2026-01-31T22:00:00Z&to=2026-02-01T01:00:00Z&interval=hour');
	t.deepEqual(
		hours.series.map(({clicks}: {clicks: number}) => clicks),
		[0, 1, 0],
	);
	const months = await stats('?from=2025-12-01&to=2026-03-01&interval=month');
	t.deepEqual(
		months.series.map(({start, clicks}: {start: string; clicks: number}) => [start.slice(0, 7), clicks]),
		[
			['2025-12', 0],
			['2026-01', 1],
			['2026-02', 0],
		],
	);
});

test('a report that cannot be is 400', async (t) => {
	const {service, acme} = await setup('2026-03-10T12:00:00.000Z');
	t.teardown(() => service.stop());
	for (const query of [
		'interval=week',
		'timezone=Mars/Olympus',
		'timezone=%2B05:30',
		'from=yesterday',
		'from=2026-02-31',
		'from=2026-03-10&to=2026-03-09',
		'from=1990-01-01&interval=hour',
	]) {
		const {status, body} = await admin(service).get(`/admin/organizations/${acme.id}/stats?${query}`);
		t.is(status, 400, query);
		t.is(body.message, 'Validation failed');
	}
});

test('one organization sees nothing of another', async (t) => {
	const {service, click} = await setup('2026-03-10T12:00:00.000Z');
	t.teardown(() => service.stop());
	await click();
	const globex = await organization(service);
	const {body} = await admin(service).get(`/admin/organizations/${globex.id}/stats`);
	t.is(body.totals.clicks, 0);
	t.deepEqual(body.breakdowns.link, []);
});

test('linkId limits the report to one link of the organization', async (t) => {
	const {service, acme, click, stats, link: made} = await setup('2026-03-10T12:00:00.000Z');
	t.teardown(() => service.stop());
	const other = await link(acme);
	await click();
	await anonymous(service).get(new URL(other.url).pathname, {'User-Agent': android});
	t.is((await stats()).totals.clicks, 2);
	const own = await stats(`?linkId=${made.id}`);
	t.is(own.totals.clicks, 1);
	t.deepEqual(own.breakdowns.link, [{key: made.id, count: 1}]);
	const globex = await organization(service);
	const foreign = await admin(service).get(`/admin/organizations/${globex.id}/stats?linkId=${made.id}`);
	t.is(foreign.status, 404);
	t.is(foreign.body.message, 'Link not found');
	const malformed = await stats('?linkId=spring');
	t.deepEqual(malformed.details, [{message: 'linkId must be a UUID', field: 'linkId'}]);
});
