import test from 'ava';
import {loadConfig} from '../../../src/platform/config/config.ts';
import {readClickHouseUrl} from '../../../src/platform/config/database-url.ts';
import {createClickHouseRows} from '../../../src/visits/click-stores/clickhouse/click-table.ts';
import {literal} from '../../../src/visits/click-stores/clickhouse/clickhouse.ts';
import {dimensionNames, funnelDimensions} from '../../../src/visits/clicks/dimensions.ts';
import {JournalCursors} from '../../../src/visits/clicks/journal/cursors.ts';
import {sectionOf} from '../../../src/visits/clicks/journal/section.ts';
import {batchId} from '../../../src/visits/clicks/journal/store.ts';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {link, organization} from '../../helpers/builders.ts';
import {isDeep} from '../../helpers/deep.ts';
import type {TestService} from '../../helpers/service.ts';
import {linked, ownService, statsOf} from '../_own.ts';
import {iPhoneApp, network, open, sendSignals, userAgents, visit} from '../matches/_phones.ts';
import {listen} from '../reports/_event-stream.ts';
import {its, run} from './_clickhouse.ts';
import {clickOn, countOf, entry, frameOn, leftBehind} from './_left-behind.ts';

/** The same questions for both services: breakdowns, filters and ranges by a small generator of numbers. */
const randomQuestions = (count: number, linkId: string): string[] => {
	let state = 35;
	const below = (limit: number): number => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return Math.floor((state / 2 ** 31) * limit);
	};
	const one = <T>(values: readonly T[]): T => values[below(values.length)] as T;
	return Array.from({length: count}, () => {
		const by = new Set(Array.from({length: 1 + below(4)}, () => one(dimensionNames)));
		const from = Date.parse('2026-03-10T11:00:00Z') + below(180) * 60_000;
		const range = {from: new Date(from).toISOString(), to: new Date(from + (1 + below(200)) * 60_000).toISOString()};
		const filter = one([{}, {}, {tag: 'spring'}, {channel: 'push'}, {link: linkId}]);
		const timezone = one(['UTC', 'Asia/Kathmandu', 'America/St_Johns']);
		return String(
			new URLSearchParams({by: [...by].join(), ...range, ...filter, timezone, interval: one(['hour', 'day'])}),
		);
	});
};

/** Sends the same requests to both services. @returns the answers by name, without values that differ in every installation. */
const story = async (at: TestService) => {
	at.clock.set(new Date('2026-03-10T12:07:30.000Z'));
	const acme = await organization(at);
	const sale = await link(acme, {tags: ['spring', 'sale'], channel: 'push', utmCampaign: 'spring'});
	const email = await link(acme, {path: '/email'});
	const address = network();
	await visit(at, sale, address(1), {query: '?utm_campaign=autumn&utm_source=mail'});
	await visit(at, email, address(6), {query: '?utm_campaign=autumn&utm_term=shoes', language: 'de-DE'});
	await visit(at, sale, address(2), {headers: {Referer: 'https://news.example/a'}});
	at.clock.advance(3700);
	await visit(at, email, address(3), {userAgent: userAgents.android, headers: {'X-Country': 'DE'}});
	const {token} = await visit(at, sale, address(4), {userAgent: userAgents.iPad, timezone: null});
	await visit(at, sale, address(5), {userAgent: 'Twitterbot/1.0'});
	await sendSignals(at, sale, {token, timezone: 'Europe/Berlin', touchPoints: 5});
	await open(at, address(1), iPhoneApp);
	const queries = [
		'',
		'interval=hour&from=2026-03-10T12:00:00Z&to=2026-03-10T15:00:00Z',
		'timezone=Asia/Kathmandu&interval=hour&from=2026-03-10T17:51&to=2026-03-10T18:55',
		'from=2026-03-10T12:07:30Z&to=2026-03-10T13:09:11Z&interval=hour',
		'from=2026-03-10T12:08:00Z&to=2026-03-10T12:20:00Z&interval=hour',
		`linkId=${sale.id}`,
		`linkId=${email.id}&interval=hour&timezone=America/New_York`,
		...randomQuestions(isDeep ? 200 : 20, email.id),
	];
	const names = {[sale.id]: 'sale', [email.id]: 'email'};
	const read = async () => {
		const answers = [];
		for (const query of queries) {
			const answer = await statsOf(at, acme, query);
			answer.breakdowns.link = answer.breakdowns.link
				?.map((one: {key: string; count: number}) => ({...one, key: names[one.key]}))
				.sort((a: {key: string}, b: {key: string}) => a.key.localeCompare(b.key));
			answers.push(answer);
		}

		for (const by of funnelDimensions.filter((name) => name !== 'link')) {
			answers.push((await acme.operator.get(`/stats/funnel?by=${by}`)).body);
		}

		return answers;
	};
	const before = await read();
	await rollUp(at.services.db);
	return {before, after: await read()};
};

test('only ids and whole numbers become part of a statement', (t) => {
	t.is(literal('019cd79e-4600-705b-b3c1-58fe4a0d38fc'), "toUUID('019cd79e-4600-705b-b3c1-58fe4a0d38fc')");
	t.is(literal(1773144000000000), '1773144000000000');
	for (const value of ["x') OR 1 = 1 --", '', "019cd79e-4600-705b-b3c1-58fe4a0d38fc'", '1', 1.5, Number.NaN, 1e300]) {
		t.throws(() => literal(value), {instanceOf: TypeError}, String(value));
	}
});

test('CLICKS_URL names a host, and a database by letters, digits and _', (t) => {
	const clicksUrl = (text: string) => loadConfig({CLICKS_URL: text}).clicksUrl;
	t.is(clicksUrl('clickhouse://clicks.example'), 'clickhouse://clicks.example');
	t.deepEqual(readClickHouseUrl('clickhouse://me:p%40ss@clicks.example/oplink?secure=1'), {
		origin: 'https://clicks.example:8443',
		user: 'me',
		password: 'p@ss',
		database: 'oplink',
	});
	t.is(readClickHouseUrl('clickhouses://clicks.example:9/').origin, 'https://clicks.example:9');
	for (const rest of ['h/a.b', 'h/a?x=1', '/a', 'h:8123/a#b']) {
		t.throws(() => clicksUrl(`clickhouse://${rest}`), {message: /^CLICKS_URL must/}, rest);
	}

	t.throws(() => clicksUrl('http://clicks.example'), {message: /^CLICKS_URL must/});
});

run('reports are those of PostgreSQL, before and after the counts are rolled up', async (t) => {
	const plain = await ownService(t);
	const [expected, found] = [await story(plain), await story(its.service)];
	t.deepEqual(found.before, expected.before);
	t.deepEqual(found.after, expected.after);
	t.deepEqual(await its.service.services.db('clicks').select(), []);
	t.deepEqual(await its.service.services.db('click_tallies').select(), []);
});

run('a batch that is brought again, alone or with later clicks, is counted once', async (t) => {
	const {acme, id} = await linked(its.service);
	const entries = [1, 2, 3].map(() => entry(clickOn(acme, id)));
	const clickHouse = createClickHouseRows(its.server.clickHouse);
	const {db} = its.service.services;
	const batch = batchId(id, {segment: 0, position: 0});
	for (const some of [entries.slice(0, 2), entries]) {
		await t.throwsAsync(
			db.transaction(async (trx) => {
				await clickHouse.store(trx, batch, [sectionOf(some)]);
				throw new Error('the transaction fails behind ClickHouse');
			}),
			{message: /behind/},
		);
	}

	await db.transaction((trx) => clickHouse.store(trx, batch, [sectionOf(entries)]));
	const {totals, breakdowns} = await statsOf(its.service, acme, `linkId=${id}`);
	t.is(totals.clicks, 3);
	t.deepEqual(breakdowns.platform, [{key: 'ios', count: 3}]);
});

run('a click that ClickHouse has and PostgreSQL has lost the answer to is stored once', async (t) => {
	const {acme, id} = await linked(its.service);
	const left = await leftBehind(t, its.service, [frameOn(acme, id), frameOn(acme, id)]);
	const options = {
		...its.service.services,
		clickHouse: createClickHouseRows(its.server.clickHouse),
		onRefused: (_: unknown, error: unknown) => t.fail(String(error)),
		onDamage: () => t.fail(),
	};
	// Several processes drain the same journal at once, from the same position.
	const all = [1, 2, 3].map(() => new JournalCursors(left.folder, options));
	for (let round = 0; round < 3; round += 1) {
		await Promise.all(all.flatMap(({toPostgres, toClickHouse}) => [toPostgres.step(), toClickHouse?.step()]));
	}

	t.is((await statsOf(its.service, acme, `linkId=${id}`)).totals.clicks, 2);
	t.is((await statsOf(its.service, acme)).totals.clicks, 2);
	t.is(await countOf(its.service, acme), 2);
});

run('the stream sends each click once, and the last hour has those before it', async (t) => {
	const {acme, ...sale} = await linked(its.service);
	await visit(its.service, sale, network()(1));
	const stream = await listen(t, its.service, {query: `?orgId=${acme.id}`});
	const {data: recent} = await stream.nextOf('recent');
	t.is(recent.perSecond.at(-1), 1);
	t.deepEqual(recent.platforms, [{key: 'ios', count: 1}]);
	const latest = {0: {type: 'click', data: {browser: 'Safari', platform: 'ios'}}};
	t.like(recent, {links: {0: {count: 1}}, latest});
	await visit(its.service, sale, network()(2), {userAgent: userAgents.android});
	const {data: click} = await stream.nextOf('click');
	t.like(click, {platform: 'android', link: {id: sale.id}, organization: {id: acme.id}});
	await visit(its.service, sale, network()(3), {userAgent: userAgents.windows});
	t.is((await stream.nextOf('click')).data.platform, 'desktop');
	stream.leave();
});

run('a month is dropped when it is over, and reports stay as they are', async (t) => {
	const own = await ownService(t, {CLICKS_URL: await its.server.database()});
	const {acme, ...sale} = await linked(own, {tags: ['spring'], channel: 'email'});
	own.clock.set(new Date('2026-01-10T12:07:30.000Z'));
	await visit(own, sale, network()(4), {userAgent: 'Twitterbot/1.0'});
	await visit(own, sale, network()(1));
	own.clock.advance(3600);
	await visit(own, sale, network()(2), {userAgent: userAgents.android});
	own.clock.set(new Date('2026-03-10T12:00:00.000Z'));
	await visit(own, sale, network()(3));
	const kathmandu = 'timezone=Asia/Kathmandu&from=2026-01-10T18:30&to=2026-03-11&interval=month';
	const before = await statsOf(own, acme, kathmandu);
	const filters = [`linkId=${sale.id}`, 'tag=spring', 'channel=email'];
	const filtered = async () => {
		const found = [];
		for (const filter of filters) {
			const query = `${filter}&from=2026-01-10T12:00:00Z&to=2026-03-11T00:00:00Z&interval=hour&timezone=Asia/Kathmandu`;
			found.push(await statsOf(own, acme, query));
		}

		return found;
	};
	const kept = await filtered();
	t.deepEqual(kept[0].totals, {clicks: 3, crawlerViews: 1, matches: 0, events: 0});
	t.is(before.totals.clicks, 2);
	const {clicks, clock, db} = own.services;
	t.deepEqual(await clicks.dropOld(db, {now: clock.now(), days: 20}), {dropped: [], left: 'uncounted'});
	await rollUp(db);
	t.deepEqual(await clicks.dropOld(db, {now: clock.now(), days: 20}), {dropped: ['202601'], left: null});
	t.deepEqual(await statsOf(own, acme, kathmandu), before);
	const sameAs = kept.map(({totals, series}) => ({totals, series}));
	const left = await filtered();
	const seen = left.map(({totals, series}) => ({totals, series}));
	t.deepEqual(seen, sameAs);
	for (const {breakdowns, breakdownsSince} of left) {
		t.deepEqual([breakdowns.platform, breakdownsSince], [[{key: 'ios', count: 1}], '2026-02-01T00:00:00.000Z']);
	}

	// An answer that was lost: the month is being dropped, and kept already.
	await own.services.db('rollups').update({dropping: '2026-03-01T00:00:00Z'});
	t.is((await statsOf(own, acme, `linkId=${sale.id}&from=2026-03-01`)).totals.clicks, 0);
	t.deepEqual((await clicks.dropOld(db, {now: new Date('2026-04-02T00:00:00Z'), days: 1})).dropped, ['202603']);
	t.is((await statsOf(own, acme, `linkId=${sale.id}&from=2026-01-01`)).totals.clicks, 2);
	t.deepEqual(await clicks.dropOld(db, {now: clock.now(), days: 20}), {dropped: [], left: null});
});

run('a filter may choose tens of thousands of links', async (t) => {
	const {services} = its.service;
	const {acme, ...sale} = await linked(its.service, {tags: ['many']});
	await services.db.raw(
		`INSERT INTO links (id, organization_id, domain_id, short_code, tags, is_active, created_at, updated_at)
		SELECT gen_random_uuid(), organization_id, domain_id, 'many-' || n, tags, true, now(), now()
		FROM links, generate_series(1, 20000) AS n WHERE id = ?`,
		[sale.id],
	);
	await visit(its.service, sale, network()(1));
	const {totals, breakdowns} = await statsOf(its.service, acme, 'tag=many&by=tag,platform');
	t.is(totals.clicks, 1);
	t.deepEqual(breakdowns.tag, [{key: 'many', count: 1}]);
});
