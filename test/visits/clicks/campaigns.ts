import {randomUUID} from 'node:crypto';
import test from 'ava';
import {rollUp} from '../../../src/visits/clicks/rollups/roll-up.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked, ownService} from '../_own.ts';
import {iPhoneApp, network, open, pathOf, visit} from '../match/_phones.ts';
import {storeRows} from './_counted.ts';

const service = serviceOf(test);

const report = async ({id}: {id: string}, query: string) =>
	admin(service).get(`/admin/organizations/${id}/stats?${query}`);

const breakdownsOf = async (acme: TestOrganization, query: string) => (await report(acme, query)).body.breakdowns;

test('UTM values of the tap come before those of the link, which come before those of its template', async (t) => {
	const acme = await organization(service);
	const {body: template} = await admin(service).post(`/admin/organizations/${acme.id}/templates`, {
		name: 'Spring',
		channel: 'email',
		utmMedium: 'newsletter',
		utmCampaign: 'template',
	});
	const sale = await link(acme, {
		templateId: template.id,
		utmCampaign: 'spring',
		utmSource: 'acme',
		channel: undefined,
	});
	const address = network()(1);
	await visit(service, sale, address);
	await visit(service, sale, address, {query: '?utm_campaign=autumn&utm_term=shoes'});
	await visit(service, sale, address, {query: '?utm_campaign=&utm_source=x&utm_source=y'});
	await visit(service, sale, address, {query: `?utm_campaign=${'long'.repeat(100)}`});
	const {utmCampaign, utmSource, utmMedium, utmTerm} = await breakdownsOf(
		acme,
		'by=utmCampaign,utmSource,utmMedium,utmTerm',
	);
	t.deepEqual(utmCampaign, [
		{key: 'spring', count: 2},
		{key: 'autumn', count: 1},
		{key: 'long'.repeat(100).slice(0, 255), count: 1},
	]);
	t.deepEqual(utmSource, [
		{key: 'acme', count: 3},
		{key: 'x', count: 1},
	]);
	t.deepEqual(utmMedium, [{key: 'newsletter', count: 4}]);
	t.deepEqual(utmTerm, [
		{key: null, count: 3},
		{key: 'shoes', count: 1},
	]);
	// What a click was made for stays when its link changes.
	await acme.server.patch(`/links/${sale.id}`, {utmCampaign: 'winter', channel: 'sms'});
	t.deepEqual((await breakdownsOf(acme, 'by=utmCampaign')).utmCampaign, utmCampaign);
	t.deepEqual((await breakdownsOf(acme, 'by=channel&by=os')).channel, [{key: 'email', count: 4}]);
});

test('by names up to four breakdowns, each its own; without it there are the usual six', async (t) => {
	const acme = await organization(service);
	const [one, two] = [
		await link(acme, {tags: ['spring', 'sale'], channel: 'email'}),
		await link(acme, {tags: ['sale'], channel: undefined}),
	];
	const address = network()(1);
	await visit(service, one, address);
	await visit(service, two, address);
	await visit(service, two, address);
	const usual = await report(acme, '');
	t.deepEqual(Object.keys(usual.body.breakdowns), [
		'platform',
		'country',
		'channel',
		'referrer',
		'link',
		'matchMethod',
	]);
	const {body} = await report(acme, 'by=tag,browser&by=deviceModel,os');
	t.deepEqual(Object.keys(body.breakdowns), ['tag', 'browser', 'deviceModel', 'os']);
	t.deepEqual(body.breakdowns.tag, [
		{key: 'sale', count: 3},
		{key: 'spring', count: 1},
	]);
	t.deepEqual(body.breakdowns.browser, [{key: 'Safari', count: 3}]);
	t.deepEqual(body.breakdowns.os, [{key: 'iOS', count: 3}]);
	t.deepEqual(body.totals, usual.body.totals);
	const tagged = await report(acme, 'tag=spring&by=link');
	t.is(tagged.body.totals.clicks, 1);
	t.deepEqual(tagged.body.breakdowns, {link: [{key: one.id, count: 1}]});
	t.is((await report(acme, `channel=email&link=${two.id}`)).body.totals.clicks, 0);
	t.is((await report(acme, `link=${two.id}`)).body.totals.clicks, 2);
	t.is((await report(acme, 'tag=unknown')).body.totals.clicks, 0);
	const other = await organization(service);
	t.is((await report(other, `link=${two.id}`)).body.totals.clicks, 0);
	for (const [query, message] of [
		['by=colour', /by must be of platform, .* not colour/],
		['by=', /by must be of/],
		['by=os,tag,link,browser,country', /by must not have more than 4 names/],
		['link=nonsense', /link must be a UUID/],
	] as const) {
		const {status, body: refused} = await report(acme, query);
		t.is(status, 400, query);
		t.regex(refused.details[0].message, message);
	}
});

test('a day keeps 500 campaigns by name, the rest together, whoever sends them', async (t) => {
	const own = await ownService(t);
	await own.services.background.settle();
	const {id} = await organization(own);
	const linkId = randomUUID();
	const clicks = Array.from({length: 1200}, (_, index) => ({
		kind: 'click' as const,
		at: Date.parse('2026-03-04T10:00:00Z'),
		platform: 'ios',
		country: null,
		channel: null,
		referrer: null,
		link: linkId,
		isCrawler: false,
		utmCampaign: `campaign ${index}`,
	}));
	await storeRows(own, id, clicks);
	await rollUp(own.services.db);
	const {rows} = await own.services.db.raw(
		`SELECT count(*) FILTER (WHERE key <> 'other')::int AS names, sum(count) FILTER (WHERE key = 'other')::int AS other
		FROM rollup_breakdowns WHERE dimension = 'utmCampaign' AND span = 'day' AND organization_id = ?`,
		[id],
	);
	t.deepEqual(rows, [{names: 500, other: 700}]);
	const {body} = await admin(own).get(`/admin/organizations/${id}/stats?from=2026-03-04&to=2026-03-05&by=utmCampaign`);
	t.is(body.totals.clicks, 1200);
	t.is(body.breakdowns.utmCampaign.length, 500);
	t.deepEqual(body.breakdowns.utmCampaign[0], {key: 'other', count: 700});
});

const DAY = 24 * 3600;

test('a funnel counts matches and events for the link, the campaign and the country of their click', async (t) => {
	const own = await ownService(t);
	const {clock} = own;
	const {acme, ...sale} = await linked(own, {tags: ['spring'], channel: 'email', utmCampaign: 'spring'});
	const funnel = async (query: string) => {
		const {status, body} = await admin(own).get(`/admin/organizations/${acme.id}/stats/funnel?${query}`);
		t.is(status, 200, JSON.stringify(body));
		return body;
	};
	const event = (deviceId: string, more: object = {}) =>
		acme.client.post('/sdk/events', {deviceId, eventName: 'purchase', properties: {amount: 12.5}, ...more});
	// A matched phone, from a tap with a campaign of its own.
	const address = network()(1);
	const {token} = await visit(own, sale, address, {query: '?utm_campaign=autumn'});
	await visit(own, sale, network()(1));
	await open(own, address, {...iPhoneApp, clipboardToken: token, deviceId: 'matched-1'}, acme);
	await acme.client.post('/sdk/session', {deviceId: 'matched-1', platform: 'iOS'});
	clock.advance(10 * DAY);
	await event('matched-1');
	await event('matched-1', {eventName: 'signup', properties: {amount: 'much'}});
	// A phone whose installed app opened the link.
	await anonymous(own, network()(1)).get(`${pathOf(sale.url)}/data?deviceId=opened-01`);
	await acme.client.post('/sdk/session', {deviceId: 'opened-01', platform: 'Android'});
	await event('opened-01');
	await event('opened-01', {properties: {amount: 7}});
	// Nobody's: never matched. And one that names its link.
	await acme.client.post('/sdk/session', {deviceId: 'nobody-01'});
	await event('nobody-01');
	await event('nobody-01', {linkId: sale.id, properties: {}});

	const byLink = await funnel('by=link&event=purchase&property=amount');
	const all = {clicks: 3, matches: 1, devices: 3, events: 4, sum: 32};
	t.deepEqual(byLink.totals, all);
	t.deepEqual(byLink.rows, [{key: sale.id, ...all}]);
	for (const [by, key] of [
		['tag', 'spring'],
		['channel', 'email'],
	]) {
		t.deepEqual((await funnel(`by=${by}&event=purchase&property=amount`)).rows, [{key, ...all}]);
	}

	t.deepEqual((await funnel('by=utmCampaign&event=purchase')).rows, [
		{key: 'spring', clicks: 2, matches: 0, devices: 2, events: 3, sum: null},
		{key: 'autumn', clicks: 1, matches: 1, devices: 1, events: 1, sum: null},
	]);
	t.deepEqual((await funnel('by=country')).rows, [{key: null, ...all, events: 5, sum: null}]);
	t.deepEqual(
		(await funnel('by=platform&event=purchase')).rows.map(({key, events, matches}: Record<string, unknown>) => [
			key,
			matches,
			events,
		]),
		[
			['ios', 1, 1],
			[null, 0, 1],
			['android', 0, 2],
		],
	);
	t.deepEqual((await funnel('by=link&tag=other')).totals, {clicks: 0, matches: 0, devices: 0, events: 0, sum: null});

	// After 30 days a link is no longer what events come from.
	clock.advance(31 * DAY);
	await event('matched-1');
	const later = await funnel(`from=${clock.now().toISOString()}&to=2099-01-01&by=link`);
	t.is(later.totals.events, 0);
	t.is((await admin(own).get(`/admin/organizations/${acme.id}/stats/funnel?by=colour`)).status, 400);
	t.is((await admin(own).get(`/admin/organizations/${acme.id}/stats/funnel?interval=day`)).status, 400);
});

test('reports that count rows take turns, and hold up no other report', async (t) => {
	const acme = await organization(service);
	await link(acme, {tags: ['spring']});
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const others = [1, 2, 3].map(() => service.services.longReads.reports(() => held));
	let isAnswered = false;
	const filtered = report(acme, 'tag=spring').finally(() => {
		isAnswered = true;
	});
	t.is((await report(acme, '')).status, 200);
	t.false(isAnswered);
	release();
	t.is((await filtered).status, 200);
	await Promise.all(others);
});
