import {randomBytes, randomUUID} from 'node:crypto';
import test from 'ava';
import {compile, type Sql, sql} from '../../../src/platform/db/sql.ts';
import {claimStatement} from '../../../src/visits/matches/claim-click.ts';
import {around, clicksAtAddress, clicksInNetwork, further} from '../../../src/visits/matches/find-clicks.ts';
import type {FirstOpen} from '../../../src/visits/matches/first-open.ts';
import type {RecordedAttempt} from '../../../src/visits/matches/match-attempt-store.ts';
import {clicksOfVisitor} from '../../../src/visits/matches/match-clicks.ts';
import {normalize} from '../../../src/visits/matches/match-signals.ts';
import {organization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';
import {clicked, network} from './_phones.ts';

const service = serviceOf(test);
test.serial.before(async () => {
	const {db} = service.services;
	await clicked(service, await organization(service), network()(1));
	await service.services.clickJournal.flushed();
	// 10,000 clicks of 2,000 addresses in 500 networks, every fifth matched.
	await db.raw(
		`INSERT INTO match_clicks (id, click_id, organization_id, link_id, ip_key, net_key, created_at, expires_at,
			consumed_at, consumed_by)
		SELECT gen_random_uuid(), gen_random_uuid(), organization_id, link_id,
			decode(md5('ip' || n % 2000), 'hex'), decode(md5('net' || n % 500), 'hex'),
			created_at - n * interval '1 second', expires_at,
			CASE WHEN n % 5 = 0 THEN created_at END, CASE WHEN n % 5 = 0 THEN decode(md5('device' || n), 'hex') END
		FROM match_clicks, generate_series(1, 10000) AS n`,
	);
	await db.raw('ANALYZE match_clicks');
});

/** An app that says nothing, somewhere. */
const firstOpen = (now: Date): FirstOpen => ({
	now,
	signals: normalize({platform: null, osVersion: null, deviceModel: null, language: null, timezone: null}),
	places: [{ipKey: randomBytes(16), netKey: randomBytes(16)}],
	devices: [randomBytes(16)],
	allowsGuesses: true,
	hasToken: false,
	organizationId: null,
});

type Plan = {'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[]};

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** How the plan that a connection keeps for a prepared statement touches `match_clicks`. */
const scansOf = async (statement: Sql): Promise<Plan[]> => {
	const {text} = compile(statement);
	const {rows} = await service.services.db.raw(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
	return nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter(
		(node) => node['Relation Name'] === 'match_clicks' || /Bitmap Index/.test(node['Node Type']),
	);
};

const open = firstOpen(new Date());
const ofOne = {...open, organizationId: randomUUID()};
const answer = {method: 'CLIPBOARD', confidence: 'high', score: null, device: randomBytes(32), now: open.now} as const;
const attempt: RecordedAttempt = {
	id: randomUUID(),
	at: open.now,
	organizationId: null,
	deviceId: null,
	matched: true,
	...answer,
	linkId: null,
	clickId: null,
	reason: null,
	signals: {
		...{platform: null, osVersion: null, deviceModel: null, language: null, timezone: null, network: 'IPv4'},
		...{clipboardToken: 'known', installReferrer: 'absent', apiKey: false},
	},
	candidates: [],
	nobody: null,
	silentGuess: null,
	hasToken: true,
	agentPlatform: null,
};
const claims = [null, {attempt, device: null}].map((notes) => claimStatement(randomUUID(), answer, notes));

for (const [name, statements, indexes] of [
	[
		'clicks around an app',
		[around(open, []), around(ofOne, [])],
		['consumer', 'ip_consumed', 'pkey', 'place_open', 'visitor'],
	],
	[
		'clicks of a network and matched ones of an address',
		[further(open), further(ofOne)],
		['ip_consumed', 'place_open'],
	],
	// By the second one, what else the same visitor left open.
	['a click that is claimed', claims, ['pkey', 'visitor']],
	["a visitor's clicks", [clicksOfVisitor(sql`${null}::bytea`, sql`*`)], ['pkey', 'visitor']],
] as const) {
	test.serial(`among 10,000 clicks, ${name} are found by indexes alone`, async (t) => {
		for (const statement of statements) {
			const scans = await scansOf(statement);
			const used = scans.flatMap((scan) => scan['Index Name']?.replace(/^match_clicks_|_idx$/g, '') ?? []);
			t.deepEqual([...new Set(used)].toSorted(), indexes);
			t.false(scans.some((scan) => scan['Node Type'] === 'Seq Scan'));
		}
	});
}

test.serial('a connection keeps one plan of the look-up, and plans no more after five times', async (t) => {
	await service.services.db.transaction(async (trx) => {
		for (const organizationId of [null, randomUUID()]) {
			for (let asked = 0; asked < 8; asked += 1) {
				const token = {clickId: randomUUID()};
				const places: FirstOpen['places'] = [{ipKey: randomBytes(16), netKey: randomBytes(16)}];
				await clicksAtAddress(trx, {...firstOpen(service.clock.now()), places, organizationId}, [token]);
			}
		}

		const {rows} = await trx.raw(
			'SELECT generic_plans > 0 AS is_kept, custom_plans <= 5 AS is_planned_no_more FROM pg_prepared_statements WHERE name = ANY(?)',
			[[around(open, []), around(ofOne, [])].flatMap(({name}) => name ?? [])],
		);
		t.deepEqual(rows, Array(2).fill({is_kept: true, is_planned_no_more: true}));
	});
});

test.serial('of all addresses of a network the newest clicks of the last 6 hours are found', async (t) => {
	const {db} = service.services;
	const near = network();
	const acme = await organization(service);
	for (const host of [9, 3, 9, 7, 1]) {
		await clicked(service, acme, near(host));
		service.clock.advance(60);
	}

	await service.services.clickJournal.flushed();
	const rows = await db('match_clicks').where({organization_id: acme.id}).orderBy('created_at', 'desc');
	const now = new Date(rows[0].created_at.getTime() + 6 * 3600 * 1000 - 180_000);
	const place = {ipKey: randomBytes(16), netKey: rows[0].net_key};
	const {inNetwork: found} = await clicksInNetwork(db, {...firstOpen(now), places: [place]});
	const idsOf = (clicks: Array<{id: string}>) => clicks.map(({id}) => id);
	t.deepEqual(idsOf(found), idsOf(rows.slice(0, 4)));
});

test.serial('the newest of an address are found, of one organization where it is named', async (t) => {
	const {db, clock} = service.services;
	const [row] = await db('match_clicks').whereNull('consumed_at').limit(1);
	const {ip_key: ipKey, net_key: netKey, organization_id: organizationId} = row;
	const around = (confinedTo: string | null) =>
		clicksAtAddress(db, {...firstOpen(clock.now()), places: [{ipKey, netKey}], organizationId: confinedTo}, []);
	const {atAddress} = await around(organizationId);
	t.true(atAddress.length > 0);
	t.true(atAddress.every((click) => click.ipKey?.equals(ipKey) && click.consumedAt === null));
	t.deepEqual((await around('5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11')).atAddress, []);
});

/** Rows that the nodes of an executed plan read of `match_clicks`, each time they ran. */
type Run = Plan & {
	'Actual Rows': number;
	'Actual Loops': number;
	'Rows Removed by Filter'?: number;
	'Shared Hit Blocks': number;
	'Shared Read Blocks': number;
	Plans?: Run[];
};

test.serial('a place with 10,000 open clicks costs no more than its newest 200', async (t) => {
	const {db, clock} = service.services;
	const [row] = await db('match_clicks').whereNull('consumed_at').limit(1);
	const place = {ipKey: randomBytes(16), netKey: randomBytes(16)};
	const visitor = randomBytes(32);
	await db.raw(
		`INSERT INTO match_clicks (id, click_id, organization_id, link_id, ip_key, net_key, created_at, expires_at, visitor, is_returning)
		SELECT gen_random_uuid(), gen_random_uuid(), organization_id, link_id, ?, ?,
			CAST(? AS timestamptz) - n * interval '1 second', expires_at, ?, true
		FROM match_clicks, generate_series(1, 10000) AS n WHERE id = ?`,
		[place.ipKey, place.netKey, clock.now(), visitor, row.id],
	);
	await db.raw('ANALYZE match_clicks');
	const literalOf = (value: unknown): string =>
		value === null
			? 'NULL'
			: `'${Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value instanceof Date ? value.toISOString() : value}'`;
	const of = (organizationId: string | null) =>
		({...firstOpen(clock.now()), places: [place], organizationId}) as FirstOpen;
	for (const [statement, organizationId] of [null, row.organization_id, randomUUID()].flatMap(
		(id) =>
			[
				[around(of(id), []), id],
				[further(of(id)), id],
			] as const,
	)) {
		const isOwn = organizationId === null || organizationId === row.organization_id;
		const name = `${statement.name?.replaceAll(' ', '_')}_${isOwn ? 'own' : 'others'}`;
		const {text, values} = compile(statement);
		const given = values.map(literalOf);
		const plan = await db.transaction(async (trx): Promise<Plan> => {
			await trx.raw(`PREPARE ${name} AS ${text}`);
			const {rows} = await trx.raw(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name} (${given.join(', ')})`);
			return rows[0]['QUERY PLAN'][0].Plan;
		});
		const runs = nodesOf(plan).filter((node) => node['Relation Name'] === 'match_clicks') as Run[];
		const read = runs.map((run) => (run['Actual Rows'] + (run['Rows Removed by Filter'] ?? 0)) * run['Actual Loops']);
		const least = statement.name?.includes('further') ? 50 : 200;
		t.true(Math.max(...read) >= (isOwn ? least : 0) && Math.max(...read) <= 400, JSON.stringify(read));
		// Of other tenants' clicks index entries are passed, about a hundred on a page, and no row is read.
		const pages = Math.max(...runs.map((run) => run['Shared Hit Blocks'] + run['Shared Read Blocks']));
		t.true(pages <= (isOwn ? 50 : 400), String(pages));
	}
});
