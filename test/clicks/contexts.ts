import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {Click} from '../../src/clicks/click.ts';
import {type ClickContext, contextIdOf, contextRow} from '../../src/clicks/click-context.ts';
import {directly} from '../../src/clicks/record-click.ts';
import {link, organization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {createFakeClock, serviceOf, storedRows} from '../helpers/service.ts';
import {clickOn, hash, matchOf} from './_left-behind.ts';

const service = serviceOf(test);

const unknown: ClickContext = {
	platform: null,
	os: null,
	osVersion: null,
	browser: null,
	deviceModel: null,
	language: null,
	timezone: null,
	country: null,
	botClass: null,
};

const iphone: ClickContext = {...unknown, platform: 'ios', os: 'iOS', osVersion: '17.5.1', browser: 'Safari'};

for (const [what, context] of [
	['every property is unknown', unknown],
	[
		'many properties are known',
		{...iphone, language: 'de-DE', timezone: 'Europe/Berlin', country: 'DE', deviceModel: 'iPhone15,2'},
	],
	['it is a crawler', {...unknown, browser: 'Slack', botClass: 'preview-crawler'}],
	['a word looks like none', {...unknown, browser: '\\N', os: '', deviceModel: 'a\tb\n\r\\…\u{1F600}'}],
] as const) {
	test(`the id of a context is equal here and in PostgreSQL if ${what}`, async (t) => {
		const {platform, os, osVersion, browser, deviceModel, language, timezone, country, botClass} = context;
		const words = [platform, os, osVersion, browser, deviceModel, language, timezone, country, botClass];
		const {rows} = await service.services.db.raw('SELECT keep_click_context(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) AS id', [
			'2026-02-28T23:59:59.999Z',
			...words,
		]);
		t.is(String(rows[0].id), contextIdOf(contextRow('2026-02', context)));
		const [kept] = await service.services.db('click_contexts').where({id: rows[0].id});
		t.like(kept, {platform, os, os_version: osVersion, browser, device_model: deviceModel, bot_class: botClass});
	});
}

test('clicks that say the same share a context, those of another month have one of their own', async (t) => {
	const {services} = service;
	const acme = await organization(service);
	const linkId = randomUUID();
	const click: Click = {
		...iphone,
		language: 'en-NZ',
		organizationId: acme.id,
		linkId,
		channel: null,
		referrerHost: null,
		match: null,
	};
	const clock = createFakeClock();
	const {record} = directly({...services, clock});
	await Promise.all([record(click), record(click), record({...click, country: 'NZ'})]);
	clock.advance(30 * 24 * 3600);
	await record(click);
	const rows = await storedRows(service, 'clicks', {link_id: linkId});
	t.deepEqual(rows.map(({country}) => country).toSorted(), ['NZ', null, null, null]);
	t.true(rows.every(({language}) => language === 'en-NZ'));
	t.is(new Set(rows.map((row) => row.context_id)).size, 3);
});

test('many that write a new context at once keep it once', async (t) => {
	const {services, clock} = service;
	const acme = await organization(service);
	const linkId = randomUUID();
	const contexts = Array.from({length: 20}, (_, index) => ({...iphone, deviceModel: `iPhone${index},${linkId}`}));
	const writers = Array.from({length: 5}, () => directly({...services, clock}));
	await Promise.all(
		writers.flatMap(({record}, writer) =>
			contexts.map((_, index) => {
				const context = contexts[(index * (writer + 1)) % contexts.length] ?? unknown;
				return record({...context, organizationId: acme.id, linkId, channel: null, referrerHost: null, match: null});
			}),
		),
	);
	const rows = await storedRows(service, 'clicks', {link_id: linkId});
	t.is(rows.length, 100);
	t.true(rows.every((row) => row.device_model?.endsWith(linkId)));
});

test('signals equal to the headers do not change the click, others change its context', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme);
	const {pathname} = new URL(url);
	const headers = {
		'User-Agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1',
	};
	const sendTimezone = async (timezone: string) => {
		const {text} = await anonymous(service).get(pathname, {...headers, 'Sec-CH-Timezone': '"Asia/Tokyo"'});
		const [token] = /opl_\w{32}/.exec(text) ?? [];
		t.is((await anonymous(service).post(`${pathname}/signals`, {token, timezone})).status, 204);
	};
	await sendTimezone('Asia/Tokyo');
	const [same] = await storedRows(service, 'clicks', {link_id: id});
	await sendTimezone('Europe/Paris');
	const [other] = await storedRows(service, 'clicks', {link_id: id, timezone: 'Europe/Paris'});
	t.like(same, {timezone: 'Asia/Tokyo'});
	t.not(other.context_id, same.context_id);
	t.like(other, {os: 'iOS', os_version: '17.5.1', platform: 'ios', browser: same.browser});
});

test('a drain that waits for a visit’s match does not block signals with the same context', async (t) => {
	const {services, clock} = service;
	const acme = await organization(service);
	const {id: linkId} = await link(acme);
	const visitor = {hash: hash(), isReturning: true};
	const {network} = matchOf();
	const {record} = directly({...services, clock});
	const visit = (deviceModel: string) =>
		record(clickOn(acme, linkId, {deviceModel, match: {...matchOf(visitor), network}}));
	const model = `iPhone of ${linkId}`;
	await visit('iPhone15,2');
	const signals = await services.db.transaction();
	const [match] = await signals('match_clicks').where({link_id: linkId}).forUpdate();
	t.truthy(match);
	const draining = visit(model);
	const isWaiting = async () =>
		(
			await services.db.raw(
				`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
			)
		).rowCount > 0;
	while (!(await isWaiting())) {
		// Until it stands before the match.
	}

	await signals.raw(`SELECT keep_click_context(?, 'ios', 'iOS', '17.5.1', 'Safari', ?, 'en', NULL, NULL, NULL)`, [
		clock.now(),
		model,
	]);
	await signals.commit();
	t.true(await draining);
	const rows = await storedRows(service, 'clicks', {link_id: linkId, device_model: model});
	t.is(rows.length, 1);
});
