import {readFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {pino} from 'pino';
import {closeDb, createDb, type Db} from '../../src/platform/db/db.ts';
import {migrateUp} from '../../src/platform/db/migrate.ts';
import {startEmbeddedPostgres} from '../../src/platform/embedded/postgres.ts';
import {createClickHouseRows} from '../../src/visits/click-stores/clickhouse/click-table.ts';
import {createReader} from '../../src/visits/click-stores/clickhouse/clickhouse-clicks.ts';
import {migrateClicks, type Place} from '../../src/visits/click-stores/clickhouse/migrate-clicks.ts';
import {createClickPartitions} from '../../src/visits/clicks/click-partitions.ts';
import type {ClickReader} from '../../src/visits/reports/click-store.ts';
import {rollUp} from '../../src/visits/reports/rollups/roll-up.ts';
import {postgresReader} from '../../src/visits/reports/rollups/rows-beside-rollups.ts';
import {readStats} from '../../src/visits/reports/stats/stats.ts';
import {type ClickHouseServer, startClickHouse} from '../../test/helpers/clickhouse.ts';
import {makeRunFolder} from '../../test/setup/run-folder.ts';
import {createTeardown} from '../../test/setup/teardown.ts';
import {fillClicks} from '../dashboard/fill.ts';
import {drain, shapes} from './drains.ts';

const {values} = parseArgs({
	options: {
		/** Clicks to move there and back. */
		clicks: {type: 'string', default: '1000000'},
		/** Clicks to drain from a journal, once into each. */
		drained: {type: 'string', default: '200000'},
	},
});

const NOW = new Date('2026-03-10T15:07:30.000Z');
const LINKS = 2000;
const QUERY = {from: null, to: null, interval: 'day', timezone: 'UTC'} as const;
const KATHMANDU = {...QUERY, timezone: 'Asia/Kathmandu'} as const;

const teardown = createTeardown();

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
	const began = performance.now();
	await work();
	return (performance.now() - began) / 1000;
};

/** The bytes of clicks in PostgreSQL, with indexes. */
const bytesInPostgres = async (db: Db): Promise<number> => {
	const {rows} = await db.raw("SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_partition_tree('clicks')");
	return Number(rows[0].bytes);
};

/** The number of rows, and one digest of all of them in any order. */
const digestOf = async (db: Db): Promise<string> => {
	const {rows} =
		await db.raw(`SELECT count(*) || ' rows, digest ' || sum(hashtextextended(concat_ws('|', id, occurred_at,
		organization_id, link_id, coalesce(context_id::text, '-'), coalesce(channel, '-'), coalesce(referrer_host, '-')), 0)) AS digest
		FROM clicks`);
	return rows[0].digest;
};

/** The most memory that a process has used, in MB. */
const peakOf = async (pid: number | 'self'): Promise<string> =>
	`${Math.round(Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)} MB`;

/** The bytes of clicks in ClickHouse, when its parts are merged. */
const bytesInClickHouse = async ({clickHouse}: ClickHouseServer): Promise<number> => {
	await clickHouse.run('OPTIMIZE TABLE clicks FINAL').catch(() => {});
	const [row] = await clickHouse.select<{bytes: number}>(
		"SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase() AND table = 'clicks'",
	);
	return row?.bytes ?? 0;
};

try {
	const folder = await makeRunFolder(teardown);
	const server = await startEmbeddedPostgres({dataDir: path.join(folder, 'data'), log: pino({level: 'warn'})});
	teardown.add(() => server.stop());
	const db = createDb(server.connectionString);
	teardown.add(() => closeDb(db));
	await migrateUp(db);
	const clickHouse = await startClickHouse();
	teardown.add(() => clickHouse.stop());
	const partitions = createClickPartitions(db);
	for (const month of [0, 1, 2]) {
		await partitions.ensure(new Date(Date.UTC(2026, month)));
	}

	const clicks = Number(values.clicks);
	const size = {clicks, days: 60, links: LINKS, until: NOW};
	console.log(`${os.cpus().length} cores, load ${os.loadavg()[0]?.toFixed(1)}, ${clicks.toLocaleString('en')} clicks`);
	const filled: {id: string; linkId: string} = await fillClicks(db, size);
	console.log(`rolled up in ${(await seconds(() => rollUp(db))).toFixed(0)} s`);
	await db.raw('VACUUM ANALYZE');
	console.log(`PostgreSQL: ${((await bytesInPostgres(db)) / clicks).toFixed(0)} bytes a click`);

	const figures = async (name: string, reader: ClickReader): Promise<string> => {
		const answers: unknown[] = [];
		for (const [what, linkId, query] of [
			['organization, 30 days', null, QUERY],
			['organization, 30 days, Kathmandu', null, KATHMANDU],
			['busiest link, 30 days', filled.linkId, QUERY],
		] as const) {
			const took: number[] = [];
			for (const _ of [1, 2, 3]) {
				took.push(
					await seconds(async () =>
						answers.push(
							await readStats(
								db,
								{organizationId: filled.id, linkIds: linkId === null ? null : [linkId]},
								query,
								NOW,
								reader,
							),
						),
					),
				);
			}

			console.log(`${name}: ${what}: ${took.map((one) => (one * 1000).toFixed(0)).join(', ')} ms`);
		}

		return JSON.stringify(answers);
	};
	const move = async (place: Place): Promise<void> => {
		const took = await seconds(() => migrateClicks(db, clickHouse.clickHouse, place));
		console.log(
			`to ${place}: ${took.toFixed(0)} s, ${Math.round(clicks / took).toLocaleString('en')} clicks a second; peak memory ${await peakOf('self')}, ClickHouse ${await peakOf(clickHouse.pid())}; load ${os.loadavg()[0]?.toFixed(1)}`,
		);
	};
	const digest = await digestOf(db);
	const before = await figures('PostgreSQL', postgresReader);
	await move('clickhouse');
	console.log(`ClickHouse: ${((await bytesInClickHouse(clickHouse)) / clicks).toFixed(0)} bytes a click`);
	if (
		(await figures(
			'ClickHouse',
			createReader(
				clickHouse.clickHouse,
				() => {},
				(work) => work(),
			),
		)) !== before
	) {
		throw new Error('not the same figures');
	}

	await move('postgres');
	console.log(`before: ${digest}`);
	if ((await digestOf(db)) !== digest) {
		throw new Error('not the same rows');
	}

	if ((await figures('PostgreSQL again', postgresReader)) !== before) {
		throw new Error('not the same figures');
	}

	const setup = {
		db,
		folder,
		organizationId: filled.id,
		links: LINKS,
		until: NOW,
		servers: {PostgreSQL: server.pid(), ClickHouse: clickHouse.pid()},
	};
	for (const shape of Object.keys(shapes) as Array<keyof typeof shapes>) {
		for (const round of [1, 2, 3]) {
			for (const raw of [null, createClickHouseRows(clickHouse.clickHouse)]) {
				const rate = await drain(setup, Number(values.drained), shape, raw);
				console.log(`${shape}, round ${round}, ${raw === null ? 'PostgreSQL' : 'with ClickHouse'}: ${rate}`);
			}
		}
	}
} finally {
	await teardown.run();
}
