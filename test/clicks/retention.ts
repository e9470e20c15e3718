import {randomUUID} from 'node:crypto';
import test from 'ava';
import {dropOldClicks} from '../../src/clicks/drop-old-clicks.ts';
import {rollUp} from '../../src/clicks/roll-up.ts';
import {takeRollupLock} from '../../src/clicks/rollup-store.ts';
import {createClickJobs} from '../../src/jobs/click-jobs.ts';
import {exposition} from '../../src/metrics/instruments.ts';
import {organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {startService} from '../helpers/service.ts';
import {type Row, storeRows} from './_counted.ts';

const DAYS = 400;
const link = randomUUID();

const clickAt = (at: string): Row => ({
	kind: 'click',
	at: Date.parse(at),
	platform: 'ios',
	country: 'NP',
	channel: null,
	referrer: null,
	link,
	isCrawler: false,
});

/** A service with clicks of two months: all of January's are older than DAYS on 2026-03-10, February's are not. */
const setup = async () => {
	const service = await startService();
	const {db, clock, background} = service.services;
	const {id} = await organization(service);
	// The first request has brought the service's own jobs with it.
	await background.settle();
	const rows = ['2025-01-03T18:20:00Z', '2025-01-31T23:59:00Z', '2025-02-01T00:00:00Z', '2025-02-03T12:00:00Z'];
	await storeRows(service, id, rows.map(clickAt));
	const partitions = async (): Promise<string[]> =>
		(
			await db.raw(`SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
			WHERE inhparent = 'clicks'::regclass ORDER BY relname`)
		).rows.map(({relname}: {relname: string}) => relname);
	const report = async (timezone: string) => {
		const query = new URLSearchParams({
			from: '2025-01-02T00:00:00Z',
			to: '2025-02-10T00:00:00Z',
			interval: 'day',
			timezone,
		});
		return (await admin(service).get(`/admin/organizations/${id}/stats?${query}`)).body;
	};
	return {service, db, partitions, report, drop: () => dropOldClicks(db, {now: clock.now(), days: DAYS})};
};

test('a month goes as a whole once its last day is old enough, and every report stays as it was', async (t) => {
	const {service, db, partitions, report, drop} = await setup();
	t.teardown(() => service.stop());
	await rollUp(db);
	const before = [await report('UTC'), await report('Asia/Kathmandu')];
	t.is(before[0].totals.clicks, 4);
	t.deepEqual(await drop(), {dropped: ['clicks_2025_01'], left: null});
	t.deepEqual(await partitions(), ['clicks_2025_02']);
	t.deepEqual(await db('click_contexts').distinct(db.raw('month::text')), [{month: '2025-02-01'}]);
	t.deepEqual([await report('UTC'), await report('Asia/Kathmandu')], before);
	t.deepEqual(await drop(), {dropped: [], left: null});
});

test('a month with a click that is not counted yet stays', async (t) => {
	const {service, partitions, drop} = await setup();
	t.teardown(() => service.stop());
	t.deepEqual(await drop(), {dropped: [], left: 'uncounted'});
	t.deepEqual(await partitions(), ['clicks_2025_01', 'clicks_2025_02']);
});

test('a table that is in use is left for the next hour', async (t) => {
	const {service, db, partitions, drop} = await setup();
	t.teardown(() => service.stop());
	await rollUp(db);
	const reader = await db.transaction();
	await reader('clicks').first();
	t.deepEqual(await drop(), {dropped: [], left: 'in_use'});
	await reader.commit();
	t.deepEqual(await partitions(), ['clicks_2025_01', 'clicks_2025_02']);
	t.deepEqual(await drop(), {dropped: ['clicks_2025_01'], left: null});
});

test('a process drops no month while another one is counting, reports no success, and retries in the next run', async (t) => {
	const {service, db, partitions} = await setup();
	t.teardown(() => service.stop());
	const {background, metrics} = service.services;
	const succeeded = () =>
		/last_success_timestamp_seconds\{task="drop_clicks"\} (\S+)/.exec(
			exposition(metrics.own.map((metric) => metric.read())),
		)?.[1];
	const before = succeeded();
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
	t.is(succeeded(), before);
	await other.commit();
	await run();
	t.deepEqual(await partitions(), ['clicks_2025_02']);
	t.is(succeeded(), String(service.clock.now().getTime() / 1000));
});
