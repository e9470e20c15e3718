import {randomUUID} from 'node:crypto';
import test from 'ava';
import {newChannel} from '../../../src/links/channels/channel.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {actionsOn, atOnce, badFields, faultsIn} from '../_answers.ts';

const service = serviceOf(test);

const setup = async () => {
	const org = await organization(service);
	const base = `/admin/organizations/${org.id}/channels`;
	const operator = admin(service);
	const named = async (name: string): Promise<{id: string}> => {
		const {body} = await operator.get(`${base}?limit=100`);
		const found = body.data.find((channel: {name: string}) => channel.name === name);
		return found ?? Promise.reject(new Error(`there is no channel ${name}`));
	};
	return {org, base, operator, named};
};

test('a new organization has the channels of config/channels.json', async (t) => {
	const {base, operator} = await setup();
	const {status, body} = await operator.get(base);
	t.is(status, 200);
	const names = body.data.map(({name}: {name: string}) => name);
	t.deepEqual(names, ['email', 'organic', 'paid', 'push', 'qr', 'referral', 'sms', 'social', 'web']);
	t.deepEqual(Object.keys(body.data[0]), ['id', 'name', 'createdAt']);
	t.like(body, {total: 9, page: 1, limit: 20});
});

test('a channel is created, read and deleted, and links keep the label of a deleted one', async (t) => {
	const {org, base, operator} = await setup();
	const {status, body} = await operator.post(base, {name: '推荐 2'});
	t.is(status, 201);
	t.is(body.name, '推荐 2');
	const one = `${base}/${body.id}`;
	t.deepEqual((await operator.get(one)).body, body);

	const {id} = await link(org, {channel: '推荐 2'});
	const deleted = await operator.delete(one);
	t.is(deleted.status, 200);
	t.deepEqual(deleted.body, {id: body.id, deleted: true});
	t.is((await operator.get(one)).status, 404);
	t.is((await org.server.get(`/links/${id}`)).body.channel, '推荐 2');
	t.is((await org.server.post('/links', {path: '/sale', channel: '推荐 2'})).status, 400);
	t.deepEqual(await actionsOn(org, 'Channel'), ['CREATE', 'DELETE']);
});

test('names are case-sensitive, and of creates of one name exactly one wins', async (t) => {
	const {org, base, operator} = await setup();
	t.is((await operator.post(base, {name: 'Email'})).status, 201);
	t.deepEqual(await atOnce(6, () => operator.post(base, {name: 'kiosk'})), [201, 409, 409, 409, 409, 409]);
	t.is((await operator.post(base, {name: 'email'})).body.message, "Channel 'email' already exists");
	t.deepEqual(await actionsOn(org, 'Channel'), ['CREATE', 'CREATE']);
});

test('a rename goes through to links and templates of the organization, and of no other', async (t) => {
	const {org, base, operator, named} = await setup();
	const other = await organization(service);
	const [mine, theirs] = [await link(org, {channel: 'email'}), await link(other, {channel: 'email'})];
	const template = await org.operator.post('/templates', {name: 'mail', channel: 'email'});
	const {id} = await named('email');
	const channels = async () => [
		(await operator.get(`${base}/${id}`)).body.name,
		(await org.server.get(`/links/${mine.id}`)).body.channel,
		(await org.operator.get(`/templates/${template.body.id}`)).body.channel,
		(await other.server.get(`/links/${theirs.id}`)).body.channel,
	];

	// A name in use.
	t.is((await operator.patch(`${base}/${id}`, {name: 'push'})).status, 409);
	t.is((await operator.patch(`${base}/${id}`, {})).status, 200);
	t.is((await operator.patch(`${base}/${id}`, {name: 'email'})).status, 200);
	t.deepEqual(await channels(), ['email', 'email', 'email', 'email']);
	t.deepEqual(await actionsOn(org, 'Channel'), []);
	const renamed = await operator.patch(`${base}/${id}`, {name: 'newsletter'});
	t.is(renamed.status, 200);
	t.like(renamed.body, {id, name: 'newsletter'});
	t.deepEqual(await channels(), ['newsletter', 'newsletter', 'newsletter', 'email']);
	t.is((await org.server.post('/links', {path: '/sale', channel: 'email'})).status, 400);
	t.deepEqual(await actionsOn(org, 'Channel'), ['UPDATE']);
});

test('a name is up to 50 letters, digits and a few signs between them, of any script', (t) => {
	for (const name of ['Social Media', 'प्रचार', 'v1.2:a/b_c-d', 'a'.repeat(50)]) {
		t.deepEqual(badFields(newChannel, {name}), [], name);
	}

	for (const name of ['x;touch y #', '$(id)', '--yes', 'a\u001B[2J', 'a\nb', 'a\u202Eb', '~a', "a'b"]) {
		t.deepEqual(badFields(newChannel, {name}), ['name'], name);
	}

	for (const [body, message] of [
		[{}, 'name is required'],
		[{name: ''}, 'name must be longer than or equal to 1 characters'],
		[{name: 'x'.repeat(51)}, 'name must be shorter than or equal to 50 characters'],
		[{name: 7}, 'name must be a string'],
		[{name: 'tv', colour: 'red'}, 'colour is not allowed'],
	] as const) {
		const messages = faultsIn(newChannel, body).map((fault) => fault.message);
		t.deepEqual(messages, [message]);
	}
});

test('another organization does not see a channel, and an invalid name or id is 400', async (t) => {
	const {base, named} = await setup();
	const {id} = await named('email');
	const other = await setup();
	t.is((await other.operator.get(`${other.base}/${id}`)).status, 404);
	t.is((await other.operator.patch(`${other.base}/${id}`, {name: 'theirs'})).status, 404);
	t.is((await other.operator.delete(`${other.base}/${id}`)).status, 404);
	t.is((await other.operator.get(`${other.base}/nope`)).status, 400);
	t.is((await other.operator.post(base, {name: '~a'})).status, 400);
	t.is((await other.operator.patch(`${base}/${id}`, {name: '~a'})).status, 400);
	t.is((await other.operator.get(`/admin/organizations/${randomUUID()}/channels`)).status, 404);
});

const android =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

/** An organization with a link, from a time on that is later than that of the test before. */
const withClickedLink = async (at: string) => {
	service.clock.set(new Date(at));
	const acme = await organization(service);
	const made = await link(acme, {channel: 'email'});
	const {pathname} = new URL(made.url);
	return {
		acme,
		link: made,
		click: (headers: Record<string, string> = {'User-Agent': android}) => anonymous(service).get(pathname, headers),
		stats: async (query = '') => (await acme.operator.get(`/stats${query}`)).body,
	};
};

test.serial('the default report covers the last 30 days by day in UTC, with today', async (t) => {
	const {click, stats, link: made} = await withClickedLink('2026-03-10T12:00:00.000Z');
	await click();
	await click();
	service.clock.set(new Date('2026-03-11T00:00:00.000Z'));
	await click({'User-Agent': 'curl/8', Referer: 'https://news.example/'});
	const body = await stats();
	t.like(body, {from: '2026-02-10T00:00:00.000Z', to: '2026-03-12T00:00:00.000Z', interval: 'day'});
	t.deepEqual(body.totals, {clicks: 3, crawlerViews: 0, matches: 0, events: 0});
	t.is(body.series.length, 30);
	t.deepEqual(body.series.slice(-2), [
		{start: '2026-03-10T00:00:00.000Z', clicks: 2, matches: 0, events: 0},
		{start: '2026-03-11T00:00:00.000Z', clicks: 1, matches: 0, events: 0},
	]);
	const counts = (dimension: string) =>
		body.breakdowns[dimension].map(({key, count}: {key: string | null; count: number}) => [key, count]);
	t.deepEqual(counts('platform'), [
		['android', 2],
		[null, 1],
	]);
	t.deepEqual(counts('channel'), [['email', 3]]);
	t.deepEqual(counts('link'), [[made.id, 3]]);
	t.deepEqual(counts('referrer'), [
		[null, 2],
		['news.example', 1],
	]);
	t.deepEqual(counts('matchMethod'), []);
});

test.serial('days follow the timezone, also when clocks change', async (t) => {
	const {click, stats} = await withClickedLink('2026-03-28T22:30:00.000Z');
	await click();
	service.clock.set(new Date('2026-03-28T23:30:00.000Z'));
	await click();
	const body = await stats('?from=2026-03-28&to=2026-03-31&timezone=Europe/Berlin');
	t.deepEqual(body.series, [
		{start: '2026-03-27T23:00:00.000Z', clicks: 1, matches: 0, events: 0},
		{start: '2026-03-28T23:00:00.000Z', clicks: 1, matches: 0, events: 0},
		{start: '2026-03-29T22:00:00.000Z', clicks: 0, matches: 0, events: 0},
	]);
});

const startsAndClicks = ({series}: {series: Array<{start: string; clicks: number}>}) =>
	series.map(({start, clicks}) => [start, clicks]);

test.serial('hours go on at a clock change of half an hour, and a zone is the same by each of its names', async (t) => {
	const {click, stats} = await withClickedLink('2026-04-06T03:20:00.000Z');
	await click();
	const series = await stats('?from=2026-04-04&to=2026-04-07&interval=hour&timezone=Australia/Lord_Howe');
	const found = startsAndClicks(series).filter(([, clicks]) => clicks !== 0);
	t.deepEqual(found, [['2026-04-06T03:00:00.000Z', 1]]);
	// PostgreSQL takes CET for an abbreviation, without summer time.
	const summer = '?from=2026-07-01&to=2026-07-02&timezone=';
	t.is((await stats(`${summer}CET`)).from, (await stats(`${summer}Europe/Brussels`)).from);
});

test.serial('hours and months have no gaps', async (t) => {
	const {click, stats} = await withClickedLink('2026-04-30T23:59:59.000Z');
	await click();
	t.deepEqual(startsAndClicks(await stats('?from=2026-04-30T22:00:00Z&to=2026-05-01T01:00:00Z&interval=hour')), [
		['2026-04-30T22:00:00.000Z', 0],
		['2026-04-30T23:00:00.000Z', 1],
		['2026-05-01T00:00:00.000Z', 0],
	]);
	t.deepEqual(startsAndClicks(await stats('?from=2026-03-01&to=2026-06-01&interval=month')), [
		['2026-03-01T00:00:00.000Z', 0],
		['2026-04-01T00:00:00.000Z', 1],
		['2026-05-01T00:00:00.000Z', 0],
	]);
});

test('a report that cannot be is 400', async (t) => {
	const {org} = await setup();
	for (const query of [
		'interval=week',
		'timezone=Mars/Olympus',
		'timezone=%2B05:30',
		// Node knows it and PostgreSQL does not.
		'timezone=US/Pacific-New&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
		'from=2026-01-01T00:00:00%2B16:00',
		'from=yesterday',
		'from=2026-02-31',
		'from=2026-03-10&to=2026-03-09',
		'from=1990-01-01&interval=hour',
	]) {
		const {status, body} = await org.operator.get(`/stats?${query}`);
		t.deepEqual([status, body.message], [400, 'Validation failed'], query);
	}
});

test.serial('linkId limits the report to one link of the organization, of which no other sees a click', async (t) => {
	const {acme, click, stats, link: made} = await withClickedLink('2026-05-10T12:00:00.000Z');
	const other = await link(acme);
	await click();
	await anonymous(service).get(new URL(other.url).pathname, {'User-Agent': android});
	t.is((await stats()).totals.clicks, 2);
	const own = await stats(`?linkId=${made.id}`);
	t.is(own.totals.clicks, 1);
	t.deepEqual(own.breakdowns.link, [{key: made.id, count: 1}]);
	const globex = await organization(service);
	const foreign = await globex.operator.get(`/stats?linkId=${made.id}`);
	t.is(foreign.status, 404);
	t.is(foreign.body.message, 'Link not found');
	const {totals, breakdowns} = (await globex.operator.get('/stats')).body;
	t.deepEqual([totals.clicks, breakdowns.link], [0, []]);
	const malformed = await stats('?linkId=spring');
	t.deepEqual(malformed.details, [{message: 'linkId must be a UUID', field: 'linkId'}]);
});
