import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {Knex} from 'knex';
import {readStats} from '../../../src/visits/clicks/stats/stats.ts';
import {readLatest} from '../../../src/visits/clicks/stream/click-stream-store.ts';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {clicked, network} from '../match/_phones.ts';

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

type Plan = {'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[]};
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** How the clicks of March are read by the statements that `run` makes. */
const scansOf = async (run: (db: Knex) => Promise<unknown>): Promise<Plan[]> => {
	const {db} = service.services;
	const statements: Array<{sql: string; bindings: Knex.RawBinding[]}> = [];
	const note = (query: {sql: string; bindings: Knex.RawBinding[]}) => statements.push(query);
	db.on('query', note);
	await run(db);
	db.off('query', note);
	const plans = await Promise.all(
		statements
			.filter(({sql}) => sql.includes('clicks'))
			.map(({sql, bindings}) => db.raw(`EXPLAIN (FORMAT JSON) ${sql.replace(/\$\d+/g, '?')}`, bindings)),
	);
	return plans
		.flatMap(({rows}) => nodesOf(rows[0]['QUERY PLAN'][0].Plan))
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
	const address = network();
	const {link: one} = await clicked(service, acme, address(1));
	const {link: other} = await clicked(service, acme, address(2));
	const left = async () => {
		await clickJournal.flushed();
		return (await db('match_clicks').where({organization_id: acme.id})).length;
	};
	t.is(await left(), 2);
	await admin(service).delete(`/admin/organizations/${acme.id}/links/${one.id}`);
	t.is(await left(), 1);
	await db('links').where({id: other.id}).delete();
	t.is(await left(), 0);

	await clicked(service, acme, address(3));
	t.is(await left(), 1);
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: null});
	t.is((await admin(service).delete(`/admin/organizations/${acme.id}`)).status, 200);
	t.is(await left(), 0);
	t.deepEqual(await db('clicks').where({organization_id: acme.id}), []);
});
