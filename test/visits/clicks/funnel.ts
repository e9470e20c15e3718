import test from 'ava';
import {dropOldClicks} from '../../../src/visits/click-stores/drop-old-clicks.ts';
import {forgetExpiredMatches} from '../../../src/visits/matches/match-clicks.ts';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked, ownService} from '../_own.ts';
import {iPhoneApp, network, open, pathOf, visit} from '../matches/_phones.ts';

const service = serviceOf(test);

const report = ({operator}: TestOrganization, query: string) => operator.get(`/stats?${query}`);

const DAY = 24 * 3600;

test('a funnel counts matches and events for the link, the campaign and the country of their click', async (t) => {
	const own = await ownService(t);
	const {clock} = own;
	const {acme, ...sale} = await linked(own, {tags: ['spring'], channel: 'email', utmCampaign: 'spring'});
	const funnel = async (query: string) => {
		const {status, body} = await acme.operator.get(`/stats/funnel?${query}`);
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
	t.deepEqual((await funnel('by=tag&event=purchase&property=amount')).rows, [{key: 'spring', ...all}]);
	t.deepEqual((await funnel('by=channel&event=purchase&property=amount')).rows, [{key: 'email', ...all}]);
	t.deepEqual((await funnel('by=utmCampaign&event=purchase')).rows, [
		{key: 'spring', clicks: 2, matches: 0, devices: 2, events: 3, sum: null},
		{key: 'autumn', clicks: 1, matches: 1, devices: 1, events: 1, sum: null},
	]);
	t.deepEqual((await funnel('by=country')).rows, [{key: null, ...all, events: 5, sum: null}]);
	t.like((await funnel('by=platform&event=purchase')).rows, {
		length: 3,
		0: {key: 'ios', matches: 1, events: 1},
		1: {key: null, matches: 0, events: 1},
		2: {key: 'android', matches: 0, events: 2},
	});
	t.deepEqual((await funnel('by=link&tag=other')).totals, {clicks: 0, matches: 0, devices: 0, events: 0, sum: null});

	// After 30 days a link is no longer what events come from.
	clock.advance(31 * DAY);
	await event('matched-1');
	const later = await funnel(`from=${clock.now().toISOString()}&to=2099-01-01&by=link`);
	t.is(later.totals.events, 0);
	for (const query of ['by=colour', 'interval=day']) {
		t.is((await acme.operator.get(`/stats/funnel?${query}`)).status, 400);
	}
});

test('a row of a funnel is one story, whatever the link is changed to, or whether it still exists', async (t) => {
	const own = await ownService(t);
	const {clock} = own;
	const acme = await organization(own);
	const values = {name: 'Spring', channel: 'email', utmSource: 'template'};
	const {body: template} = await acme.operator.post('/templates', values);
	const sale = await link(acme, {templateId: template.id, utmCampaign: 'spring'});
	const news = await link(acme, {utmCampaign: 'news'});
	const sent = async (deviceId: string, more: object = {}) => {
		const {status} = await acme.client.post('/sdk/events', {deviceId, eventName: 'purchase', ...more});
		t.is(status, 200);
	};
	const opens = async (url: string, deviceId: string, query = '', country = 'NP') => {
		const path = `${pathOf(url)}/data?deviceId=${deviceId}${query}`;
		t.is((await anonymous(own, network()(1)).get(path, {'X-Country': country})).status, 200);
	};
	// A phone that is matched to two taps of one link, each with a campaign of its own, and sends events after both.
	for (const [utm, country] of [
		['autumn', 'DE'],
		['winter', 'EG'],
	] as const) {
		const address = network()(1);
		const headers = {'X-Country': country};
		const {token} = await visit(own, sale, address, {query: `?utm_campaign=${utm}`, headers});
		await open(own, address, {...iPhoneApp, clipboardToken: token, deviceId: 'matched-1'}, acme);
		clock.advance(600);
		await sent('matched-1');
	}

	// A guess, of a returning visitor whose second tap counts.
	const address = network()(1);
	const {cookie} = await visit(own, sale, address, {query: '?utm_campaign=first'});
	clock.advance(5);
	await visit(own, sale, address, {query: '?utm_campaign=second', headers: {Cookie: cookie ?? ''}});
	await open(own, address, {...iPhoneApp, deviceId: 'guessed-1'}, acme);
	await sent('guessed-1');
	// Openings carry their own query, and name the link of later events, also of those that name it themselves.
	await opens(sale.url, 'opened-01', '&utm_campaign=X&utm_source=push');
	await sent('opened-01');
	await sent('opened-01', {linkId: sale.id});
	await sent('opened-01', {linkId: news.id});
	clock.advance(600);
	await opens(news.url, 'opened-01', '', 'JP');
	await sent('opened-01');
	await opens(sale.url, 'matched-1');
	await sent('matched-1');
	// Later taps of others, and what they came from, change nothing.
	await visit(own, sale, network()(1), {query: '?utm_campaign=late'});

	const read = async () => {
		const found: Record<string, unknown[]> = {};
		for (const by of ['channel', 'utmSource', 'utmCampaign', 'country']) {
			const {body} = await acme.operator.get(`/stats/funnel?by=${by}`);
			found[by] = body.rows.map(({key, clicks, matches, devices, events}: Record<string, unknown>) =>
				[key, clicks, matches, devices, events].join(' '),
			);
		}

		return found;
	};
	const stories = {
		channel: ['email 7 3 3 6', ' 1 0 1 2'],
		utmSource: ['template 6 3 2 4', 'push 1 0 1 2', ' 1 0 1 2'],
		utmCampaign: [
			'X 1 0 1 2',
			'news 1 0 1 2',
			'autumn 1 1 1 1',
			'second 1 1 1 1',
			'spring 1 0 1 1',
			'winter 1 1 1 1',
			'first 1 0 0 0',
			'late 1 0 0 0',
		],
		country: ['NP 2 0 2 3', ' 3 1 2 2', 'DE 1 1 1 1', 'EG 1 1 1 1', 'JP 1 0 1 1'],
	};
	const sorted = (rows: Record<string, unknown[]>) =>
		Object.fromEntries(Object.entries(rows).map(([by, all]) => [by, all.toSorted()]));
	t.deepEqual(sorted(await read()), sorted(stories));
	await acme.server.patch(`/links/${sale.id}`, {channel: 'sms', utmCampaign: 'changed', utmSource: 'changed'});
	t.deepEqual(sorted(await read()), sorted(stories));
	await rollUp(own.services.db);
	t.is((await acme.server.delete(`/links/${sale.id}`)).status, 200);
	t.deepEqual(sorted(await read()), sorted(stories));
	clock.advance(70 * DAY);
	await own.services.background.settle();
	await forgetExpiredMatches(own.services.db, clock.now());
	const {db} = own.services;
	await rollUp(db);
	t.deepEqual((await dropOldClicks(db, {now: clock.now(), days: 30})).left, null);
	const range = `from=2026-03-01&to=${clock.now().toISOString()}`;
	const {body} = await acme.operator.get(`/stats/funnel?by=utmCampaign&${range}`);
	t.deepEqual(
		body.rows
			.map(({key, clicks, matches, events}: Record<string, unknown>) => [key, clicks, matches, events].join(' '))
			.toSorted(),
		stories.utmCampaign.map((row) => row.replace(/\d+ (\d+)$/, '$1')).toSorted(),
	);
});

test('a funnel adds up what apps send, and stays with numbers that JSON has', async (t) => {
	const {acme, id} = await linked(service);
	await acme.client.post('/sdk/session', {deviceId: 'device-01'});
	const send = async (eventName: string, ...amounts: unknown[]) => {
		for (const amount of amounts) {
			const event = {deviceId: 'device-01', eventName, linkId: id, properties: {amount}};
			t.is((await acme.client.post('/sdk/events', event)).status, 200);
		}
	};
	await send('usual', 12.5, 7, -0.25, 1e12, 'much', null);
	await send('high', 1e308, 1e308);
	await send('low', -1e308, -1e308);
	await send('mixed', 1e308, 1e308, -1e308, -1e308, 3);
	// What is left of these is less than the least number.
	await send('tiny', 4.4e-323, -4e-323, -5e-324);
	for (const [event, sum] of [
		['usual', 1_000_000_000_019.25],
		['high', Number.MAX_VALUE],
		['low', -Number.MAX_VALUE],
		['mixed', 3],
		['tiny', 0],
	] as const) {
		const {status, body} = await acme.operator.get(`/stats/funnel?event=${event}&property=amount`);
		t.is(status, 200, event);
		t.deepEqual([body.totals.sum, body.rows[0].sum], [sum, sum], event);
	}
});

test('reports that count rows take turns, and hold up no other report', async (t) => {
	const {acme} = await linked(service, {tags: ['spring']});
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const {signal: hungUp} = new AbortController();
	const others = ['a', 'b', 'c'].map((organizationId) =>
		service.services.longReads.reports.run({organizationId, hungUp}, () => held),
	);
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
