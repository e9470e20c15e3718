import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {Clock} from '../../../src/platform/clock.ts';
import type {Services} from '../../../src/services.ts';
import {contexts} from '../../../src/visits/clicks/click-context.ts';
import {directJournal} from '../../../src/visits/clicks/direct-journal.ts';
import type {Click} from '../../../src/visits/clicks/journal/entry.ts';
import {organization} from '../../helpers/builders.ts';
import {createFakeClock, serviceOf, storedRows} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {network as phoneNetwork, sendSignals, visit} from '../match/_phones.ts';
import {untilTrue} from '../webhooks/_receiver.ts';
import {clickAt, storeRows} from './_counted.ts';
import {clickOn, contextOf, hash, matchOf} from './_left-behind.ts';

const service = serviceOf(test);

/** Writes clicks directly; rejects with why one could not be written. */
const writer = (services: Services, clock: Clock): ((click: Click) => Promise<true>) => {
	let failure: unknown;
	const onFailure = (error: unknown) => {
		failure = error;
	};
	const {record} = directJournal({...services, onFailure});
	return (click) =>
		new Promise((resolve, reject) =>
			record(click, clock.now(), (isKept) => (isKept ? resolve(true) : reject(failure))),
		);
};

const iphone = contextOf({language: null});
const unknown = contextOf({platform: null, os: null, osVersion: null, browser: null, language: null});
const german = {language: 'de-DE', timezone: 'Europe/Berlin', country: 'DE', deviceModel: 'iPhone15,2'};

for (const [what, context] of [
	['every property is unknown', unknown],
	['many properties are known', {...iphone, ...german}],
	['it is a crawler', {...unknown, browser: 'Slack', botClass: 'preview-crawler'}],
	['a word looks like none', {...unknown, browser: '\\N', os: '', deviceModel: 'a\tb\n\r\\…\u{1F600}'}],
] as const) {
	test(`the id of a context is equal here and in PostgreSQL if ${what}`, async (t) => {
		const {platform, os, osVersion, browser, deviceModel, language, timezone, country, botClass} = context;
		const words = [platform, os, osVersion, browser, deviceModel, language, timezone, country, botClass];
		const {rows} = await service.services.db.raw(
			"SELECT keep_click_context('2026-02-28T23:59:59.999Z', ?, ?, ?, ?, ?, ?, ?, ?, ?) AS id",
			words,
		);
		t.is(String(rows[0].id), contexts.idOf(contexts.rowOf('2026-02', context)));
		const [kept] = await service.services.db('click_contexts').where({id: rows[0].id});
		t.like(kept, {platform, os, os_version: osVersion, browser, device_model: deviceModel, bot_class: botClass});
	});
}

test('clicks that say the same share a context, those of another month have one of their own', async (t) => {
	const {services} = service;
	const acme = await organization(service);
	const linkId = randomUUID();
	const click = clickOn(acme, linkId, {context: {...iphone, language: 'en-NZ'}, match: null});
	const clock = createFakeClock();
	const record = writer(services, clock);
	await Promise.all([record(click), record(click), record({...click, context: {...click.context, country: 'NZ'}})]);
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
	const writers = Array.from({length: 5}, () => writer(services, clock));
	const written = writers.flatMap((record, number) =>
		contexts.map((_, index) => {
			const context = contexts[(index * (number + 1)) % contexts.length] ?? unknown;
			return record(clickOn(acme, linkId, {context, match: null}));
		}),
	);
	await Promise.all(written);
	const rows = await storedRows(service, 'clicks', {link_id: linkId});
	t.is(rows.length, 100);
	t.true(rows.every((row) => row.device_model?.endsWith(linkId)));
});

test('signals equal to the headers do not change the click, others change its context', async (t) => {
	const {id, ...sale} = await linked(service);
	const address = phoneNetwork()(1);
	const sendTimezone = async (timezone: string) => {
		const {token} = await visit(service, sale, address, {timezone: 'Asia/Tokyo'});
		t.is((await sendSignals(service, sale, {token, timezone})).status, 204);
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
	const {acme, id: linkId} = await linked(service);
	const visitor = {hash: hash(), isReturning: true};
	const {network} = matchOf();
	const record = writer(services, clock);
	const tap = (deviceModel: string) =>
		record(clickOn(acme, linkId, {context: contextOf({deviceModel}), match: {...matchOf(visitor), network}}));
	const model = `iPhone of ${linkId}`;
	await tap('iPhone15,2');
	const signals = await services.db.transaction();
	const [match] = await signals('match_clicks').where({link_id: linkId}).forUpdate();
	t.truthy(match);
	const draining = tap(model);
	const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
	// Until it stands before the match.
	await untilTrue(async () => (await services.db.raw(waiting)).rowCount > 0);
	const keep = `SELECT keep_click_context(?, 'ios', 'iOS', '17.5.1', 'Safari', ?, 'en', NULL, NULL, NULL)`;
	await signals.raw(keep, [clock.now(), model]);
	await signals.commit();
	t.true(await draining);
	t.is((await storedRows(service, 'clicks', {link_id: linkId, device_model: model})).length, 1);
});

test('a partition is created during an open transaction with clicks, with the table’s indexes and its own key', async (t) => {
	const {services} = service;
	const {id} = await organization(service, {appConfig: null});
	const open = await services.db.transaction();
	await storeRows(service, id, [clickAt(Date.UTC(2026, 4, 31, 23))], open);
	await Promise.all([1, 2].map(() => storeRows(service, id, [clickAt(Date.UTC(2026, 5, 1))])));
	await open.commit();
	const {rows} = await services.db.raw(`SELECT relname, count(indexrelid)::int AS indexes,
			count(*) FILTER (WHERE EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid))::int AS attached
		FROM pg_class JOIN pg_index ON indrelid = pg_class.oid
		WHERE relname IN ('clicks', 'clicks_2026_05', 'clicks_2026_06') GROUP BY relname ORDER BY relname`);
	const [{indexes}] = rows;
	t.true(indexes >= 2);
	t.deepEqual(rows, [
		{relname: 'clicks', indexes, attached: 0},
		{relname: 'clicks_2026_05', indexes: indexes + 1, attached: indexes},
		{relname: 'clicks_2026_06', indexes: indexes + 1, attached: indexes},
	]);
	t.is(Number((await services.db('clicks').where({organization_id: id}).count())[0]?.['count']), 3);
});
