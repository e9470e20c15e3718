import {randomUUID} from 'node:crypto';
import test from 'ava';
import {rollUp} from '../../src/clicks/roll-up.ts';
import {storageLimits} from '../../src/config/policies.ts';
import {organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {type Row, storeRows} from './_counted.ts';

const MOST = storageLimits().referrersPerDay;
const DAY = Date.parse('2026-03-04T00:00:00Z');

const clicksOf = (referrer: string | null, count = 1, hour = 0): Row[] =>
	Array.from({length: count}, () => ({
		kind: 'click',
		at: DAY + hour * 3_600_000,
		platform: 'ios',
		country: 'DE',
		channel: null,
		referrer,
		link: randomUUID(),
		isCrawler: false,
	}));
const strangers = (from: number, count: number, hour = 0): Row[] =>
	Array.from({length: count}, (_, index) => clicksOf(`host-${from + index}.example`, 1, hour)).flat();

const setup = async () => {
	const service = await startService();
	await service.services.background.settle();
	await rollUp(service.services.db);
	return {service, db: service.services.db, acme: await organization(service)};
};

/** Referrers of the rollups by their key, in spans of this length. */
const rolledReferrers = async ({services: {db}}: TestService, span: string): Promise<Map<string | null, number>> => {
	const {rows} = await db.raw(
		`SELECT key, CAST(sum(count) AS int) AS count FROM rollup_breakdowns WHERE dimension = 'referrer' AND span = ? GROUP BY key`,
		[span],
	);
	return new Map(rows.map(({key, count}: {key: string | null; count: number}) => [key, count]));
};

const sum = (counts: Map<string | null, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);

const report = async (service: TestService, {id}: {id: string}) =>
	(await admin(service).get(`/admin/organizations/${id}/stats?from=2026-03-04&to=2026-03-05`)).body;

test('a day keeps the referrers with the most clicks by name and the rest together, and no click is lost', async (t) => {
	const {service, db, acme} = await setup();
	t.teardown(() => service.stop());
	await storeRows(service, acme.id, [
		...strangers(0, MOST + 20),
		...clicksOf('news.example', 3),
		...clicksOf(null, 5),
		...clicksOf('other', 2),
	]);
	await rollUp(db);
	const days = await rolledReferrers(service, 'day');
	// The named ones, those without a referrer, and the rest under the host of that name.
	t.is(days.size, MOST + 2);
	t.is(days.get('news.example'), 3);
	t.is(days.get(null), 5);
	t.is(days.get('other'), 21 + 2);
	t.is(sum(days), MOST + 30);
	t.deepEqual(await rolledReferrers(service, 'month'), days);
	const {totals, breakdowns} = await report(service, acme);
	t.is(totals.clicks, MOST + 30);
	t.deepEqual(breakdowns.referrer.slice(0, 3), [
		{key: 'other', count: 23},
		{key: null, count: 5},
		{key: 'news.example', count: 3},
	]);
});

test('a full day takes no further name in later steps, and knows those that it has', async (t) => {
	const {service, db, acme} = await setup();
	t.teardown(() => service.stop());
	await storeRows(service, acme.id, strangers(0, MOST - 1));
	await rollUp(db);
	await storeRows(service, acme.id, [...strangers(0, 10), ...clicksOf('late.example', 2), ...strangers(MOST, 30)]);
	await rollUp(db);
	await storeRows(service, acme.id, [...clicksOf('late.example'), ...clicksOf('later.example', 4)]);
	await rollUp(db);
	const days = await rolledReferrers(service, 'day');
	t.is(days.size, MOST + 1);
	t.is(days.get('host-0.example'), 2);
	t.is(days.get('late.example'), 3);
	t.is(days.get('other'), 34);
	t.is(sum(days), MOST - 1 + 10 + 2 + 30 + 1 + 4);
	t.is((await report(service, acme)).totals.clicks, sum(days));
});

test('each organization and day has its own, and a busy day has the same names by the hour', async (t) => {
	const {service, db, acme} = await setup();
	t.teardown(() => service.stop());
	const globex = await organization(service);
	await storeRows(service, acme.id, [...strangers(0, MOST, 1), ...strangers(MOST, 40, 2)]);
	await storeRows(service, globex.id, strangers(0, 3));
	await rollUp(db, undefined, {busy: 100});
	await storeRows(service, acme.id, [...strangers(0, 5, 3), ...strangers(5000, 7, 3)]);
	await rollUp(db, undefined, {busy: 100});
	const {rows} = await db.raw(
		`SELECT organization_id = ? AS is_acme, span, CAST(sum(count) AS int) AS count, CAST(count(DISTINCT key) AS int) AS keys,
			CAST(coalesce(sum(count) FILTER (WHERE key = 'other'), 0) AS int) AS other
		FROM rollup_breakdowns WHERE dimension = 'referrer' GROUP BY 1, 2 ORDER BY 1, 2`,
		[acme.id],
	);
	t.deepEqual(rows, [
		{is_acme: false, span: 'day', count: 3, keys: 3, other: 0},
		{is_acme: false, span: 'month', count: 3, keys: 3, other: 0},
		...['day', 'hour', 'month'].map((span) => ({is_acme: true, span, count: MOST + 52, keys: MOST + 1, other: 47})),
	]);
});

test('the clicks themselves keep their referrers', async (t) => {
	const {service, db, acme} = await setup();
	t.teardown(() => service.stop());
	await storeRows(service, acme.id, strangers(0, MOST + 20));
	await rollUp(db);
	const [counted] = await db('clicks').countDistinct({hosts: 'referrer_host'});
	t.is(Number(counted?.['hosts']), MOST + 20);
});
