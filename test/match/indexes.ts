import {randomBytes} from 'node:crypto';
import test from 'ava';
import type {Knex} from 'knex';
import {
	countOpenNear,
	findByTokens,
	findConsumedBy,
	findConsumedNear,
	findOpenNear,
} from '../../src/match/match-click-store.ts';
import {organization} from '../helpers/builders.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {clicked, network} from './_phones.ts';

let service: TestService;
test.before(async () => {
	service = await startService();
	const {db} = service.services;
	await clicked(service, await organization(service), network()(1));
	await service.services.clickJournal.settled();
	// 10,000 clicks of 2,000 addresses in 500 networks, every fifth matched.
	await db.raw(
		`INSERT INTO match_clicks (id, click_id, organization_id, link_id, token_hash, ip_key, net_key, created_at, expires_at,
			consumed_at, consumed_by)
		SELECT gen_random_uuid(), gen_random_uuid(), organization_id, link_id, decode(md5('token' || n), 'hex'),
			decode(md5('ip' || n % 2000), 'hex'), decode(md5('net' || n % 500), 'hex'),
			created_at - n * interval '1 second', expires_at,
			CASE WHEN n % 5 = 0 THEN created_at END, CASE WHEN n % 5 = 0 THEN decode(md5('device' || n), 'hex') END
		FROM match_clicks, generate_series(1, 10000) AS n`,
	);
	await db.raw('ANALYZE match_clicks');
});
test.after.always(() => service?.stop());

type Plan = {'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[]};

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The plans of the statements that `run` makes, as they touch `match_clicks`. */
const scansOf = async (run: (db: Knex) => Promise<unknown>): Promise<Plan[]> => {
	const {db} = service.services;
	const statements: Array<{sql: string; bindings: Knex.RawBinding[]}> = [];
	const note = (query: {sql: string; bindings: Knex.RawBinding[]}) => statements.push(query);
	db.on('query', note);
	await run(db);
	db.off('query', note);
	const plans = await Promise.all(
		statements.map(({sql, bindings}) => db.raw(`EXPLAIN (FORMAT JSON) ${sql.replace(/\$\d+/g, '?')}`, bindings)),
	);
	return plans
		.flatMap(({rows}) => nodesOf(rows[0]['QUERY PLAN'][0].Plan))
		.filter((node) => node['Relation Name'] === 'match_clicks' || /Bitmap Index/.test(node['Node Type']));
};

const keys = [randomBytes(16), randomBytes(16)];
const since = new Date('2026-03-10T11:00:00Z');
const organizationId = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';

for (const [name, run, index] of [
	[
		'open clicks of an address',
		(db: Knex) => findOpenNear(db, {key: 'ip_key', keys, organizationId: null, limit: 50}),
		'match_clicks_ip_open_idx',
	],
	[
		'open clicks of an address and an organization',
		(db: Knex) => findOpenNear(db, {key: 'ip_key', keys, organizationId, limit: 50}),
		'match_clicks_ip_open_idx',
	],
	[
		'open clicks of a network',
		(db: Knex) => findOpenNear(db, {key: 'net_key', keys, organizationId: null, since, limit: 50}),
		'match_clicks_net_open_idx',
	],
	['the crowd at an address', (db: Knex) => countOpenNear(db, keys, since, 50), 'match_clicks_ip_open_idx'],
	[
		'matched clicks of an address',
		(db: Knex) => findConsumedNear(db, {keys, organizationId: null, since, limit: 10}),
		'match_clicks_ip_consumed_idx',
	],
	['the click of a token', (db: Knex) => findByTokens(db, keys), 'match_clicks_token_hash_key'],
	['the last click of a device', (db: Knex) => findConsumedBy(db, keys, since), 'match_clicks_consumer_idx'],
] as const) {
	test.serial(`among 10,000 clicks, ${name} are found by an index`, async (t) => {
		const scans = await scansOf(run);
		t.true(scans.length > 0);
		t.true(scans.some((scan) => scan['Index Name'] === index));
		t.false(scans.some((scan) => scan['Node Type'] === 'Seq Scan'));
	});
}

test.serial('the newest 50 of an address are found, of one organization where it is named', async (t) => {
	const {db} = service.services;
	const [row] = await db('match_clicks').whereNull('consumed_at').limit(1);
	const ipKey = row.ip_key;
	const own = await findOpenNear(db, {key: 'ip_key', keys: [ipKey], organizationId: row.organization_id, limit: 50});
	t.true(own.length > 0);
	t.true(own.every((click) => click.ipKey?.equals(ipKey) && click.consumedAt === null));
	t.deepEqual(await findOpenNear(db, {key: 'ip_key', keys: [ipKey], organizationId, limit: 50}), []);
});
