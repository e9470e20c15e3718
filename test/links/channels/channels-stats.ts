import {randomUUID} from 'node:crypto';
import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {createFakeClock, serviceOf, startService} from '../../helpers/service.ts';

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
	t.deepEqual(
		body.data.map(({name}: {name: string}) => name),
		['email', 'organic', 'paid', 'push', 'qr', 'referral', 'sms', 'social', 'web'],
	);
	t.deepEqual(Object.keys(body.data[0]), ['id', 'name', 'createdAt']);
	t.like(body, {total: 9, page: 1, limit: 20});
});

test('a channel is created, read and deleted, and links keep the label of a deleted one', async (t) => {
	const {org, base, operator} = await setup();
	const created = await operator.post(base, {name: 'podcast'});
	t.is(created.status, 201);
	t.is(created.body.name, 'podcast');
	t.deepEqual((await operator.get(`${base}/${created.body.id}`)).body, created.body);

	const {id} = await link(org, {channel: 'podcast'});
	const deleted = await operator.delete(`${base}/${created.body.id}`);
	t.is(deleted.status, 200);
	t.deepEqual(deleted.body, {id: created.body.id, deleted: true});
	t.is((await operator.get(`${base}/${created.body.id}`)).status, 404);
	t.is((await org.server.get(`/links/${id}`)).body.channel, 'podcast');
	t.is((await org.server.post('/links', {path: '/sale', channel: 'podcast'})).status, 400);
});

test('names are case-sensitive, and a duplicate is 409', async (t) => {
	const {base, operator} = await setup();
	t.is((await operator.post(base, {name: 'Email'})).status, 201);
	const again = await operator.post(base, {name: 'email'});
	t.is(again.status, 409);
	t.is(again.body.message, "Channel 'email' already exists");
});

test('of parallel creates of one name exactly one wins', async (t) => {
	const {base, operator} = await setup();
	const answers = await Promise.all(Array.from({length: 6}, () => operator.post(base, {name: 'kiosk'})));
	t.deepEqual(answers.map(({status}) => status).sort(), [201, 409, 409, 409, 409, 409]);
});

test('a rename goes through to links and templates of the organization, and of no other', async (t) => {
	const {org, base, operator, named} = await setup();
	const other = await organization(service);
	const [mine, theirs] = [await link(org, {channel: 'email'}), await link(other, {channel: 'email'})];
	const template = await operator.post(`/admin/organizations/${org.id}/templates`, {name: 'mail', channel: 'email'});
	const {id} = await named('email');

	const renamed = await operator.patch(`${base}/${id}`, {name: 'newsletter'});
	t.is(renamed.status, 200);
	t.like(renamed.body, {id, name: 'newsletter'});
	t.is((await org.server.get(`/links/${mine.id}`)).body.channel, 'newsletter');
	const templatePath = `/admin/organizations/${org.id}/templates/${template.body.id}`;
	t.is((await operator.get(templatePath)).body.channel, 'newsletter');
	t.is((await other.server.get(`/links/${theirs.id}`)).body.channel, 'email');
	t.is((await org.server.post('/links', {path: '/sale', channel: 'email'})).status, 400);
});

test('a rename to a name in use is 409 and changes nothing', async (t) => {
	const {org, base, operator, named} = await setup();
	const {id: linkId} = await link(org, {channel: 'sms'});
	const {id} = await named('sms');
	t.is((await operator.patch(`${base}/${id}`, {name: 'push'})).status, 409);
	t.is((await operator.get(`${base}/${id}`)).body.name, 'sms');
	t.is((await org.server.get(`/links/${linkId}`)).body.channel, 'sms');
	t.is((await operator.patch(`${base}/${id}`, {})).status, 200);
	t.is((await operator.patch(`${base}/${id}`, {name: 'sms'})).status, 200);
});

const refused = test.macro({
	exec: async (t, body: object, message: string) => {
		const {base, operator} = await setup();
		const answer = await operator.post(base, body);
		t.is(answer.status, 400);
		t.deepEqual(
			answer.body.details.map((detail: {message: string}) => detail.message),
			[message],
		);
	},
	title: (_, body) => `a channel ${JSON.stringify(body).slice(0, 40)} is refused with 400`,
});
test(refused, {}, 'name is required');
test(refused, {name: ''}, 'name must be longer than or equal to 1 characters');
test(refused, {name: 'x'.repeat(51)}, 'name must be shorter than or equal to 50 characters');
test(refused, {name: 7}, 'name must be a string');
test(refused, {name: 'tv', colour: 'red'}, 'colour is not allowed');

test('another organization does not see a channel', async (t) => {
	const {named} = await setup();
	const {id} = await named('email');
	const other = await setup();
	t.is((await other.operator.get(`${other.base}/${id}`)).status, 404);
	t.is((await other.operator.patch(`${other.base}/${id}`, {name: 'theirs'})).status, 404);
	t.is((await other.operator.delete(`${other.base}/${id}`)).status, 404);
	t.is((await other.operator.get(`${other.base}/nope`)).status, 400);
	t.is((await other.operator.get(`/admin/organizations/${randomUUID()}/channels`)).status, 404);
});

test('every write leaves an audit record, a refused one does not', async (t) => {
	const {org, base, operator} = await setup();
	const {body: channel} = await operator.post(base, {name: 'tv'});
	await operator.post(base, {name: 'tv'});
	await operator.patch(`${base}/${channel.id}`, {name: 'television'});
	await operator.delete(`${base}/${channel.id}`);
	const {body} = await operator.get(`/admin/organizations/${org.id}/audit-log?limit=100`);
	const records = body.data.filter(({entityType}: {entityType: string}) => entityType === 'Channel');
	t.deepEqual(records.map(({action}: {action: string}) => action).sort(), ['CREATE', 'DELETE', 'UPDATE']);
	t.true(records.every(({actor}: {actor: {type: string}}) => actor.type === 'ADMIN_BEARER'));
});

test('a name is letters, digits and a few signs between them, of any script', async (t) => {
	const {base, operator} = await setup();
	for (const name of ['Social Media', 'प्रचार', '推荐 2', 'v1.2:a/b_c-d', 'a'.repeat(50)]) {
		t.is((await operator.post(base, {name})).status, 201, name);
	}

	for (const name of [
		'x;touch y #',
		'$(id)',
		'--yes',
		'a\u001B[2J',
		'a\nb',
		'a\u202Eb',
		'~a',
		"a'b",
		'',
		'a'.repeat(51),
	]) {
		const {status, body} = await operator.post(base, {name});
		t.is(status, 400, name);
		t.is(body.details[0].field, 'name');
	}
});

const android =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

/** A service whose clock a test moves; one organization and one link in it. */
const withClickedLink = async (at: string) => {
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
	const {service, clock, click, stats, link: made} = await withClickedLink('2026-03-10T12:00:00.000Z');
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
	const {service, clock, click, stats} = await withClickedLink('2026-03-28T22:30:00.000Z');
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
	const {service, click, stats} = await withClickedLink('2026-01-31T23:59:59.000Z');
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

test('hours go on at a clock change of half an hour, and a zone is the same by each of its names', async (t) => {
	const {service, click, stats} = await withClickedLink('2026-04-06T03:20:00.000Z');
	t.teardown(() => service.stop());
	await click();
	const {series} = await stats('?from=2026-04-04&to=2026-04-07&interval=hour&timezone=Australia/Lord_Howe');
	const clicked = series.filter(({clicks}: {clicks: number}) => clicks > 0);
	t.deepEqual(
		clicked.map(({start}: {start: string}) => start),
		['2026-04-06T03:00:00.000Z'],
	);
	// PostgreSQL takes CET for an abbreviation, without summer time.
	const summer = '?from=2026-07-01&to=2026-07-02&timezone=';
	t.is((await stats(`${summer}CET`)).from, (await stats(`${summer}Europe/Brussels`)).from);
});

test('a report that cannot be is 400', async (t) => {
	const {service, acme} = await withClickedLink('2026-03-10T12:00:00.000Z');
	t.teardown(() => service.stop());
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
		const {status, body} = await admin(service).get(`/admin/organizations/${acme.id}/stats?${query}`);
		t.is(status, 400, query);
		t.is(body.message, 'Validation failed');
	}
});

test('one organization sees nothing of another', async (t) => {
	const {service, click} = await withClickedLink('2026-03-10T12:00:00.000Z');
	t.teardown(() => service.stop());
	await click();
	const globex = await organization(service);
	const {body} = await admin(service).get(`/admin/organizations/${globex.id}/stats`);
	t.is(body.totals.clicks, 0);
	t.deepEqual(body.breakdowns.link, []);
});

test('linkId limits the report to one link of the organization', async (t) => {
	const {service, acme, click, stats, link: made} = await withClickedLink('2026-03-10T12:00:00.000Z');
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
