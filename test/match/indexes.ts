import {randomBytes} from 'node:crypto';
import test from 'ava';
import type {Prepared} from '../../src/db/prepared.ts';
import {clickStatements, findAround} from '../../src/match/find-clicks.ts';
import {normalise} from '../../src/match/match-signals.ts';
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

/** How the plan that a connection keeps for a prepared statement touches `match_clicks`. */
const scansOf = async ({text}: Prepared): Promise<Plan[]> => {
	const {rows} = await service.services.db.raw(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
	return nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter(
		(node) => node['Relation Name'] === 'match_clicks' || /Bitmap Index/.test(node['Node Type']),
	);
};

for (const [name, statements, indexes] of [
	[
		'clicks around an app',
		clickStatements.around,
		[
			'match_clicks_consumer_idx',
			'match_clicks_ip_consumed_idx',
			'match_clicks_ip_open_idx',
			'match_clicks_net_open_idx',
			'match_clicks_token_hash_key',
		],
	],
	['open clicks of a network', clickStatements.network, ['match_clicks_net_open_idx']],
	['matched clicks of an address', clickStatements.consumed, ['match_clicks_ip_consumed_idx']],
] as const) {
	test.serial(`among 10,000 clicks, ${name} are found by indexes alone`, async (t) => {
		for (const statement of Object.values(statements)) {
			const scans = await scansOf(statement);
			t.deepEqual([...new Set(scans.flatMap((scan) => scan['Index Name'] ?? []))].toSorted(), indexes);
			t.false(scans.some((scan) => scan['Node Type'] === 'Seq Scan'));
		}
	});
}

test.serial('the newest 50 of an address are found, of one organization where it is named', async (t) => {
	const {db, clock} = service.services;
	const [row] = await db('match_clicks').whereNull('consumed_at').limit(1);
	const {ip_key: ipKey, net_key: netKey, organization_id: organizationId} = row;
	const around = (confinedTo: string | null) =>
		findAround(
			db,
			{
				now: clock.now(),
				signals: normalise({platform: null, osVersion: null, deviceModel: null, language: null, timezone: null}),
				places: [{ipKey, netKey}],
				devices: [randomBytes(16)],
				organizationId: confinedTo,
			},
			[],
		);
	const {atAddress} = await around(organizationId);
	t.true(atAddress.length > 0);
	t.true(atAddress.every((click) => click.ipKey?.equals(ipKey) && click.consumedAt === null));
	t.deepEqual((await around('5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11')).atAddress, []);
});
