import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {Knex} from 'knex';
import type {Clock} from '../../../src/platform/clock.ts';
import type {Services} from '../../../src/services.ts';
import type {Click} from '../../../src/visits/clicks/journal/entry.ts';
import {readStats} from '../../../src/visits/reports/stats/stats.ts';
import {readLatest} from '../../../src/visits/reports/stream/click-stream-store.ts';
import {directJournal} from '../../../src/visits/simulation/dry-run.ts';
import {contexts} from '../../../src/visits/visit/click-context.ts';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {createFakeClock, serviceOf, storedRows} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {clicked, network as phoneNetwork, sendSignals, visit} from '../matches/_phones.ts';
import {untilTrue} from '../webhooks/_receiver.ts';
import {clickAt, storeRows} from './_counted.ts';
import {clickOn, contextOf, hash, matchOf} from './_left-behind.ts';

const service = serviceOf(test);
let organizationId: string;
const linkId = randomUUID();
const day = (n: number): Date => new Date(Date.UTC(2026, 2, n));
test.serial.before(async () => {
	({id: organizationId} = await organization(service));
	const {db, clickPartitions} = service.services;
	await clickPartitions.ensure(day(1));
	// 20,000 clicks in 20 days: every 20th of the organization, every 200th of the link.
	await db.raw(
		`INSERT INTO clicks (id, occurred_at, organization_id, link_id)
		SELECT gen_random_uuid(), CAST(:from AS timestamptz) + n * interval '86.4 seconds',
			CASE WHEN n % 20 = 0 THEN CAST(:organizationId AS uuid) ELSE gen_random_uuid() END,
			CASE WHEN n % 200 = 0 THEN CAST(:linkId AS uuid) ELSE gen_random_uuid() END
		FROM generate_series(0, 19999) AS n`,
		{from: day(1), organizationId, linkId},
	);
	await db.raw('ANALYZE clicks');
});

type Statement = {text?: string | undefined; values?: unknown[] | undefined};
type Connection = {query(statement: Statement, ...more: unknown[]): Promise<never>};
type Plan = {'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[]};
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** How the clicks of March are read by the statements that `run` makes. */
const scansOf = async (run: (db: Knex) => Promise<unknown>): Promise<Plan[]> => {
	const {db} = service.services;
	const statements: Statement[] = [];
	const connection: Connection = await db.client.acquireConnection();
	const query = connection.query.bind(connection);
	const {acquireConnection, releaseConnection} = db.client;
	connection.query = (statement, ...more) => {
		statements.push(statement);
		return query(statement, ...more);
	};
	// The statements of `run` use this connection, and so does its transaction.
	Object.assign(db.client, {acquireConnection: async () => connection, releaseConnection: async () => {}});
	try {
		await run(db);
	} finally {
		Object.assign(db.client, {acquireConnection, releaseConnection});
	}

	const plans: Array<{rows: Array<{'QUERY PLAN': [{Plan: Plan}]}>}> = [];
	for (const {text, values} of statements) {
		if (text?.includes('clicks') && !text.startsWith('LOCK')) {
			plans.push(await query({text: `EXPLAIN (FORMAT JSON) ${text}`, values}));
		}
	}

	connection.query = query;
	await db.client.releaseConnection(connection);
	return plans
		.flatMap(({rows}) => rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan)))
		.filter((node) => node['Relation Name'] === 'clicks_2026_03' || node['Index Name']?.startsWith('clicks_2026_03'));
};

const reportOf = (db: Knex, linkIds: string[] | null, from = day(3), to = day(5)) => {
	const range = {from: from.toISOString(), to: to.toISOString(), interval: 'day', timezone: 'UTC'} as const;
	return readStats(db, {organizationId, linkIds}, range, to);
};

const newest = (db: Knex) => readLatest(db, {organizationId, limit: 20});

for (const [name, run, index] of [
	["an organization's clicks of two days", (db: Knex) => reportOf(db, null), /^clicks_2026_03_organization_id_/],
	["a link's clicks of two days", (db: Knex) => reportOf(db, [linkId]), /^clicks_2026_03_link_id_/],
	["an organization's newest clicks", newest, /^clicks_2026_03_organization_id_/],
] as const) {
	test.serial(`among 20,000 clicks, ${name} are found by an index`, async (t) => {
		const scans = await scansOf(run);
		t.true(scans.some((scan) => index.test(scan['Index Name'] ?? '')));
		t.false(scans.some((scan) => scan['Node Type'] === 'Seq Scan'));
	});
}

test.serial('clicks of a range are exactly those, wherever the steps of the index begin', async (t) => {
	const {db} = service.services;
	const at = (seconds: number): Date => new Date(day(3).getTime() + seconds * 1000);
	// The organization clicks every 1,728 seconds, its link at every tenth of them.
	for (const [linkIds, step] of [
		[null, 1728],
		[[linkId], 17_280],
	] as const) {
		const counted = async (from: number, to: number) =>
			(await reportOf(db, linkIds && [...linkIds], at(from), at(to))).totals.clicks;
		t.deepEqual([await counted(0, step), await counted(0, step + 1), await counted(1, step)], [1, 2, 0]);
	}

	const [last] = await newest(db);
	t.deepEqual(last?.data.at, new Date(day(1).getTime() + 19_980 * 86_400));
});

test('matches that wait go with their link, however it is deleted, and with their organization', async (t) => {
	const {db, clickJournal} = service.services;
	const acme = await organization(service);
	const address = phoneNetwork();
	const {link: one} = await clicked(service, acme, address(1));
	const {link: other} = await clicked(service, acme, address(2));
	const left = async () => {
		await clickJournal.flushed();
		return (await db('match_clicks').where({organization_id: acme.id})).length;
	};
	t.is(await left(), 2);
	await acme.operator.delete(`/links/${one.id}`);
	t.is(await left(), 1);
	await db('links').where({id: other.id}).delete();
	t.is(await left(), 0);

	await clicked(service, acme, address(3));
	t.is(await left(), 1);
	await acme.operator.put('/plan', {plan: null});
	t.is((await admin(service).delete(`/admin/organizations/${acme.id}`)).status, 200);
	t.is(await left(), 0);
	t.deepEqual(await db('clicks').where({organization_id: acme.id}), []);
});

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
		const {platform, os, osVersion, browser, deviceModel, language, timezone, country, botClass, host} = context;
		const words = [platform, os, osVersion, browser, deviceModel, language, timezone, country, botClass, host];
		const {rows} = await service.services.db.raw(
			"SELECT keep_click_context('2026-02-28T23:59:59.999Z', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) AS id",
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
