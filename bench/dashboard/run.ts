import {randomBytes, randomUUID} from 'node:crypto';
import {readdir, readFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {pino} from 'pino';
import type {Clock} from '../../src/platform/clock.ts';
import {loadConfig} from '../../src/platform/config/config.ts';
import {closeDb, createDb, type Db} from '../../src/platform/db/db.ts';
import {migrateUp} from '../../src/platform/db/migrate.ts';
import {startEmbeddedPostgres} from '../../src/platform/embedded/postgres.ts';
import {startService} from '../../src/start/server.ts';
import {createClickPartitions} from '../../src/visits/clicks/click-partitions.ts';
import {rollUp} from '../../src/visits/reports/rollups/roll-up.ts';
import {readStats} from '../../src/visits/reports/stats/stats.ts';
import {makeRunFolder} from '../../test/setup/run-folder.ts';
import {createTeardown} from '../../test/setup/teardown.ts';
import {fill} from './fill.ts';

const {values} = parseArgs({
	options: {
		clicks: {type: 'string', multiple: true, default: ['10000', '100000', '1000000']},
		links: {type: 'string', default: '2000'},
		rounds: {type: 'string', default: '20'},
	},
});

/** Of the afternoon, so that today is neither over nor just begun. */
const NOW = new Date('2026-03-10T15:07:30.000Z');

const queries: Array<[string, string]> = [
	['30 days by day (default)', ''],
	['30 days by day, Kathmandu', 'timezone=Asia/Kathmandu'],
	['30 days by hour, Kathmandu', 'interval=hour&timezone=Asia/Kathmandu'],
	['1 day by hour', 'from=2026-03-09&to=2026-03-10&interval=hour'],
	['a year by month', 'from=2025-04-01&to=2026-04-01&interval=month'],
	['a year by day, New York', 'from=2025-03-11&to=2026-03-11&timezone=America/New_York'],
	['unaligned', 'from=2026-02-11T12:07:31.123Z&to=2026-03-10T11:52:29.456Z'],
	['30 days, campaign and country', 'by=utmCampaign,country'],
	['30 days, link and tag', 'by=link,tag'],
	['30 days, system and source, tag of 100 links', 'by=os,utmSource&tag=hundred'],
	['30 days, campaign and country, tag of 100 links', 'by=utmCampaign,country&tag=hundred'],
	['unaligned, 2 days', 'from=2026-03-08T11:07:31Z&to=2026-03-10T12:52:29Z&interval=hour'],
];

const clock: Clock = {now: () => NOW};
const teardown = createTeardown();

let postmaster = 0;

/** Milliseconds that this process and PostgreSQL's have computed, from /proc in ticks of 10 ms. */
const computing = async (): Promise<number> => {
	const {user, system} = process.cpuUsage();
	let ticks = 0;
	for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
		const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
		const fields = stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.map(Number);
		const [parent, own, ended] = [fields[1], fields.slice(11, 13), fields.slice(13, 15)];
		if (Number(pid) === postmaster || parent === postmaster) {
			ticks += [...own, ...(Number(pid) === postmaster ? ended : [])].reduce((sum, field) => sum + field, 0);
		}
	}

	return (user + system) / 1000 + ticks * 10;
};

const percentile = (sorted: number[], share: number): string =>
	(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);

/** p50 / p95 of the time, and how long both processes computed in the mean, which other work on the machine hardly changes. */
const time = async (rounds: number, work: () => Promise<unknown>): Promise<string> => {
	await work();
	const took: number[] = [];
	const computed = await computing();
	for (let round = 0; round < rounds; round += 1) {
		const began = performance.now();
		await work();
		took.push(performance.now() - began);
	}

	const each = ((await computing()) - computed) / rounds;
	took.sort((a, b) => a - b);
	return `${percentile(took, 0.5)} / ${percentile(took, 0.95)} (${each.toFixed(0)})`;
};

const open = async (): Promise<Db> => {
	const options = {
		dataDir: path.join(await makeRunFolder(teardown), 'data'),
		log: pino({level: 'warn'}, pino.destination(2)),
	};
	const first = await startEmbeddedPostgres(options);
	const settings = createDb(first.connectionString);
	// As docs/operating/production.md advises, instead of PostgreSQL's default of 128 MB.
	await settings.raw("ALTER SYSTEM SET shared_buffers = '1GB'");
	await closeDb(settings);
	await first.stop();
	const server = await startEmbeddedPostgres(options);
	teardown.add(() => server.stop());
	postmaster = server.pid();
	const db = createDb(server.connectionString);
	teardown.add(() => closeDb(db));
	await migrateUp(db);
	const partitions = createClickPartitions(db);
	for (let month = 0; month < 13; month += 1) {
		await partitions.ensure(new Date(Date.UTC(2025, 2 + month)));
	}

	return db;
};

const measure = async (db: Db, {clicks, days}: {clicks: number; days: number}): Promise<void> => {
	const size = {clicks, days, links: Number(values.links), until: NOW};
	await db.raw(
		'TRUNCATE clicks, click_contexts, click_campaigns, organizations, rollup_quarters, rollup_days, rollup_breakdowns CASCADE',
	);
	// It went with the organizations.
	await db('domains').insert({id: randomUUID(), status: 'VERIFIED', created_at: NOW, updated_at: NOW});
	const {id, linkId} = await fill(db, size);
	await db.raw('VACUUM ANALYZE');
	const adminToken = randomBytes(24).toString('hex');
	const config = loadConfig({PORT: '0', ADMIN_TOKEN: adminToken, LOG_LEVEL: 'silent'});
	// The job of the service would roll up at once.
	const held = await db.transaction();
	await held.raw('SELECT pg_advisory_xact_lock(7201005)');
	const service = await startService({config, clock, log: pino({level: 'silent'}), adminToken, db});
	const ask = async (query: string) => {
		const answer = await fetch(`${service.url}/admin/organizations/${id}/stats?${query}`, {
			headers: {Authorization: `Bearer ${adminToken}`},
		});
		if (!answer.ok) {
			throw new Error(await answer.text());
		}

		return answer.text();
	};
	const before: string[] = [];
	const answers: string[] = [];
	for (const [, query] of queries) {
		before.push(await time(2, () => ask(query)));
		answers.push(await ask(query));
	}

	await held.commit();
	const [began, computed] = [performance.now(), await computing()];
	await rollUp(db);
	const rolled = [performance.now() - began, (await computing()) - computed].map((ms) => (ms / 1000).toFixed(1));
	await db.raw('VACUUM ANALYZE');
	console.log(`\n### ${clicks.toLocaleString('en')} clicks in ${days} days, ${values.links} links\n`);
	console.log('| query | rows: p50 / p95 ms (computing) | rollups |\n| --- | --- | --- |');
	for (const [index, [name, query]] of queries.entries()) {
		// Of a thousand campaigns a day keeps 500 by name: rows have them all.
		const isCapped = query.includes('utmCampaign') && !query.includes('tag=');
		if (!isCapped && (await ask(query)) !== answers[index]) {
			throw new Error(`${name}: not the same figures as before rolling up`);
		}

		console.log(`| ${name} | ${before[index]} | ${await time(Number(values.rounds), () => ask(query))} |`);
	}

	const query = {from: null, to: null, interval: 'day', timezone: 'UTC'} as const;
	const link = await readStats(db, {organizationId: id, linkIds: [linkId]}, query, NOW);
	const ofLink = await time(5, () => readStats(db, {organizationId: id, linkIds: [linkId]}, query, NOW));
	console.log(`| busiest link, ${link.totals.clicks.toLocaleString('en')} clicks, 30 days | | ${ofLink} |`);
	const {rows} = await db.raw(`SELECT (SELECT count(*) FROM rollup_quarters) AS quarters,
		(SELECT count(*) FROM rollup_breakdowns) AS breakdowns, (SELECT count(*) FROM rollup_days WHERE has_hours) AS busy,
		pg_size_pretty((SELECT sum(pg_total_relation_size(c)) FROM unnest(ARRAY['rollup_quarters', 'rollup_days', 'rollup_breakdowns']) AS c)) AS rollups,
		pg_size_pretty((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('clicks'))) AS clicks`);
	console.log(`\nRolling up took ${rolled[0]} s (computing ${rolled[1]} s); ${JSON.stringify(rows[0])}`);
	await service.stop();
};

console.log(`${os.cpus().length} cores, ${os.cpus()[0]?.model}, node ${process.version}, embedded PostgreSQL`);
try {
	const db = await open();
	for (const clicks of values.clicks.map(Number)) {
		for (const days of clicks >= 1_000_000 ? [30, 3, 365] : [30]) {
			await measure(db, {clicks, days});
		}
	}
} finally {
	await teardown.run();
}
