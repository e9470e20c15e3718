import test, {type ExecutionContext} from 'ava';
import {createClickJobs} from '../../../src/operations/jobs/start-jobs.ts';
import {storageLimits} from '../../../src/platform/config/policies.ts';
import {dropOldClicks} from '../../../src/visits/click-stores/drop-old-clicks.ts';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {takeRollupLock} from '../../../src/visits/reports/rollups/rollup-store.ts';
import {organization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';
import {ownService, statsOf} from '../_own.ts';
import {clickAt, type Row, storeRows} from './_counted.ts';

const DAYS = 400;
/** A service with clicks of two months: all of January's are older than DAYS on 2026-03-10, February's are not. */
const setup = async (t: ExecutionContext) => {
	const service = await ownService(t);
	const {clock, db, background} = service.services;
	// The job that runs at the start has the lock for a moment.
	await background.settle();
	const acme = await organization(service);
	const times = ['2025-01-03T18:20:00Z', '2025-01-31T23:59:00Z', '2025-02-01T00:00:00Z', '2025-02-03T12:00:00Z'];
	const clicks = times.map((at) => clickAt(at));
	await storeRows(service, acme.id, clicks);
	const partitions = async (): Promise<string[]> =>
		db('pg_inherits')
			.join('pg_class', 'pg_class.oid', 'inhrelid')
			.whereRaw("inhparent = 'clicks'::regclass")
			.orderBy('relname')
			.pluck('relname');
	const report = (timezone: string) =>
		statsOf(service, acme, `from=2025-01-02T00:00:00Z&to=2025-02-10T00:00:00Z&interval=day&timezone=${timezone}`);
	return {service, db, partitions, report, drop: () => dropOldClicks(db, {now: clock.now(), days: DAYS})};
};

test('a month goes as a whole once it is old, counted and not in use, and every report stays as it was', async (t) => {
	const {db, partitions, report, drop} = await setup(t);
	const both = ['clicks_2025_01', 'clicks_2025_02'];
	t.deepEqual([await drop(), await partitions()], [{dropped: [], left: 'uncounted'}, both]);
	await rollUp(db);
	const before = [await report('UTC'), await report('Asia/Kathmandu')];
	t.is(before[0].totals.clicks, 4);
	const reader = await db.transaction();
	await reader('clicks').first();
	t.deepEqual([await drop(), await partitions()], [{dropped: [], left: 'in_use'}, both]);
	await reader.commit();
	t.deepEqual(await drop(), {dropped: ['clicks_2025_01'], left: null});
	t.deepEqual(await partitions(), ['clicks_2025_02']);
	t.deepEqual(await db('click_contexts').distinct(db.raw('month::text')), [{month: '2025-02-01'}]);
	t.deepEqual([await report('UTC'), await report('Asia/Kathmandu')], before);
	t.deepEqual(await drop(), {dropped: [], left: null});
});

test('a process drops no month while another one is counting, reports no success, and retries in the next run', async (t) => {
	const {service, db, partitions} = await setup(t);
	const {background, metrics} = service.services;
	const succeeded = async () =>
		/last_success_timestamp_seconds\{task="drop_clicks"\} (\S+)/.exec(await metrics.registry.metrics())?.[1];
	const before = await succeeded();
	const clicks = createClickJobs(service.services, () => false);
	const run = async () => {
		service.clock.advance(60);
		clicks.run();
		await background.settle();
	};
	const other = await db.transaction();
	t.true(await takeRollupLock(other));
	clicks.expectDrop();
	await run();
	t.is(await succeeded(), before);
	await other.commit();
	await run();
	t.deepEqual(await partitions(), ['clicks_2025_02']);
	t.is(await succeeded(), String(service.clock.now().getTime() / 1000));
});

const service = serviceOf(test);
test.serial.before(async () => {
	// The job that runs at the start has the lock for a moment.
	await service.services.background.settle();
});

const MAX_COUNT = storageLimits().valuesPerDay;
const DAY = Date.parse('2026-03-04T00:00:00Z');

const clicksOf = (referrer: string | null, count = 1, hour = 0): Row[] =>
	Array.from({length: count}, () => clickAt(DAY + hour * 3_600_000, {referrer}));
const strangers = (from: number, count: number, hour = 0): Row[] =>
	Array.from({length: count}, (_, index) => clicksOf(`host-${from + index}.example`, 1, hour)).flat();

/** Referrers of the rollups by their key, in spans of this length. */
const rolledReferrers = async ({id}: {id: string}, span: string): Promise<Map<string | null, number>> => {
	const {rows} = await service.services.db.raw(
		`SELECT key, CAST(sum(count) AS int) AS count FROM rollup_breakdowns
		WHERE dimension = 'referrer' AND span = ? AND organization_id = ? GROUP BY key`,
		[span, id],
	);
	return new Map(rows.map(({key, count}: {key: string | null; count: number}) => [key, count]));
};

const sum = (counts: Map<string | null, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);

const day = 'from=2026-03-04&to=2026-03-05';

test.serial(
	'a day keeps the referrers with the most clicks by name and the rest together, and no click loses its own',
	async (t) => {
		const {db} = service.services;
		const acme = await organization(service);
		await storeRows(service, acme.id, [
			...strangers(0, MAX_COUNT + 20),
			...clicksOf('news.example', 3),
			...clicksOf(null, 5),
			...clicksOf('other', 2),
		]);
		await rollUp(db);
		const days = await rolledReferrers(acme, 'day');
		// The named ones, those without a referrer, and the rest under the host of that name.
		t.is(days.size, MAX_COUNT + 2);
		t.like(Object.fromEntries(days), {'news.example': 3, null: 5, other: 21 + 2});
		t.is(sum(days), MAX_COUNT + 30);
		t.deepEqual(await rolledReferrers(acme, 'month'), days);
		const {totals, breakdowns} = await statsOf(service, acme, day);
		t.is(totals.clicks, MAX_COUNT + 30);
		const [kept] = await db('clicks').where({organization_id: acme.id}).countDistinct({hosts: 'referrer_host'});
		t.is(Number(kept?.['hosts']), MAX_COUNT + 22);
		t.deepEqual(breakdowns.referrer.slice(0, 3), [
			{key: 'other', count: 23},
			{key: null, count: 5},
			{key: 'news.example', count: 3},
		]);
	},
);

test.serial('a full day takes no further name in later steps, and knows those that it has', async (t) => {
	const {db} = service.services;
	const acme = await organization(service);
	await storeRows(service, acme.id, strangers(0, MAX_COUNT - 1));
	await rollUp(db);
	await storeRows(service, acme.id, [...strangers(0, 10), ...clicksOf('late.example', 2), ...strangers(MAX_COUNT, 30)]);
	await rollUp(db);
	await storeRows(service, acme.id, [...clicksOf('late.example'), ...clicksOf('later.example', 4)]);
	await rollUp(db);
	const days = await rolledReferrers(acme, 'day');
	t.is(days.size, MAX_COUNT + 1);
	t.like(Object.fromEntries(days), {'host-0.example': 2, 'late.example': 3, other: 34});
	t.is(sum(days), MAX_COUNT - 1 + 10 + 2 + 30 + 1 + 4);
	t.is((await statsOf(service, acme, day)).totals.clicks, sum(days));
});

test.serial('each organization and day has its own, and a busy day has the same names by the hour', async (t) => {
	const {db} = service.services;
	const acme = await organization(service);
	const globex = await organization(service);
	await storeRows(service, acme.id, [...strangers(0, MAX_COUNT, 1), ...strangers(MAX_COUNT, 40, 2)]);
	await storeRows(service, globex.id, strangers(0, 3));
	await rollUp(db, undefined, {busy: 100});
	await storeRows(service, acme.id, [...strangers(0, 5, 3), ...strangers(5000, 7, 3)]);
	await rollUp(db, undefined, {busy: 100});
	const few = new Map([0, 1, 2].map((number) => [`host-${number}.example`, 1]));
	for (const span of ['day', 'month']) {
		t.deepEqual(await rolledReferrers(globex, span), few);
		const many = await rolledReferrers(acme, span);
		t.deepEqual([many.size, sum(many), many.get('other')], [MAX_COUNT + 1, MAX_COUNT + 52, 47]);
	}

	const hours = await db.raw(
		`SELECT CAST(sum(hours[2]) AS int) AS one, CAST(sum(hours[3]) AS int) AS two, CAST(sum(hours[4]) AS int) AS three,
			CAST(sum(hours[4]) FILTER (WHERE key = 'other') AS int) AS other, bool_and(array_length(hours, 1) = 24) AS all
		FROM rollup_breakdowns WHERE dimension = 'referrer' AND span = 'day' AND organization_id = ?`,
		[acme.id],
	);
	t.deepEqual(hours.rows, [{one: MAX_COUNT, two: 40, three: 12, other: 7, all: true}]);
});
