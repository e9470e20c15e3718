import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {createClickHouse, literal} from '../../src/clicks/clickhouse/clickhouse.ts';
import {readClickHouseUrl} from '../../src/clicks/clickhouse/clickhouse-url.ts';
import {createRawStore} from '../../src/clicks/clickhouse/raw-store.ts';
import {createDrains} from '../../src/clicks/journal/drains.ts';
import {batchId} from '../../src/clicks/journal/raw-clicks.ts';
import {sectionOf} from '../../src/clicks/journal/section.ts';
import {clickIdOfToken, type MatchToken} from '../../src/clicks/open-match.ts';
import {rollUp} from '../../src/clicks/roll-up.ts';
import {loadConfig} from '../../src/config/config.ts';
import {createDb} from '../../src/db/db.ts';
import {listen} from '../admin/_event-stream.ts';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {type ClickHouseServer, hasClickHouse, startClickHouse, withClickHouse} from '../helpers/clickhouse.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {oplink} from '../helpers/process.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {iPhoneApp, network, open, pathOf, sendSignals, userAgents, visit} from '../match/_phones.ts';
import {clickOn, countOf, entry, frameOf, leftBehind} from './_left-behind.ts';
import {type Load, type Process, startProcess, visitMany} from './_process.ts';

const run = withClickHouse(test);
let server: ClickHouseServer;
let service: TestService;
let plain: TestService;

test.serial.before(async () => {
	if (!hasClickHouse) {
		return;
	}

	server = await startClickHouse();
	[service, plain] = await Promise.all([startService({CLICKS_URL: server.url}), startService()]);
});

test.serial.after.always(async () => {
	await service?.stop();
	await plain?.stop();
	await server?.stop();
});

const statsOf = async (at: TestService, {id}: TestOrganization, query = '') => {
	const {status, body, text} = await admin(at).get(`/admin/organizations/${id}/stats?${query}`);
	if (status !== 200) {
		throw new Error(`${status}: ${text}`);
	}

	return body;
};

const storedRows = async (at: Pick<ClickHouseServer, 'clickHouse'> = server): Promise<number> => {
	const [row] = await at.clickHouse.select<{count: number}>('SELECT count() AS count FROM clicks FINAL');
	return row?.count ?? 0;
};

/** Sends the same requests to both services. @returns the answers by name, without values that differ in every installation. */
const story = async (at: TestService) => {
	at.clock.set(new Date('2026-03-10T12:07:30.000Z'));
	const acme = await organization(at);
	const [sale, email] = [await link(acme), await link(acme, {path: '/email', channel: undefined})];
	const address = network();
	await visit(at, sale, address(1));
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
	];
	const read = async () => {
		const answers = [];
		for (const query of queries) {
			const answer = await statsOf(at, acme, query);
			const names = new Map([
				[sale.id, 'sale'],
				[email.id, 'email'],
			]);
			answer.breakdowns.link = answer.breakdowns.link
				.map((one: {key: string; count: number}) => ({...one, key: names.get(one.key)}))
				.sort((a: {key: string}, b: {key: string}) => a.key.localeCompare(b.key));
			answers.push(answer);
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
	for (const text of [
		'http://clicks.example',
		'clickhouse://h/a.b',
		'clickhouse://h/a?x=1',
		'clickhouse:///a',
		'clickhouse://h:8123/a#b',
	]) {
		t.regex(t.throws(() => clicksUrl(text))?.message ?? '', /^CLICKS_URL must/, text);
	}
});

run('reports are those of PostgreSQL, before and after the counts are rolled up', async (t) => {
	const [expected, found] = [await story(plain), await story(service)];
	t.deepEqual(found.before, expected.before);
	t.deepEqual(found.after, expected.after);
	t.deepEqual(await service.services.db('clicks').select(), []);
	t.deepEqual(await service.services.db('click_tallies').select(), []);
});

run('while ClickHouse is away, pages, matches and quotas go on, and rows wait in the journal', async (t) => {
	const acme = await organization(service);
	const sale = await link(acme);
	const address = network();
	await visit(service, sale, address(1));
	await statsOf(service, acme, `linkId=${sale.id}`);
	const before = await storedRows();
	await server.kill();
	await visit(service, sale, address(2));
	t.like((await open(service, address(2), iPhoneApp)).body, {matched: true, linkId: sale.id});
	const {body: usage} = await admin(service).get(`/admin/organizations/${acme.id}/usage`);
	t.is(usage.usage?.clicks?.used ?? usage.clicks?.used, 2);
	// Of whole days, which the rollups have.
	t.is((await statsOf(service, acme)).totals.clicks, 2);
	const {status, body} = await admin(service).get(`/admin/organizations/${acme.id}/stats?linkId=${sale.id}`);
	t.is(status, 503);
	t.is(body.message, 'Click store unavailable');
	const ready = await admin(service).get('/health/ready');
	t.is(ready.status, 200);
	t.is(ready.body.checks.clicks, 'unavailable');
	t.true((await admin(service).get('/admin/status')).body.clicks.waitingBytes > 0);
	const {body: doctor} = await admin(service).get('/admin/doctor');
	t.is(doctor.findings.find(({check}: {check: string}) => check === 'clicks.reachable').status, 'fail');

	await server.start();
	t.is((await statsOf(service, acme, `linkId=${sale.id}`)).totals.clicks, 2);
	t.is(await storedRows(), before + 1);
	t.is((await admin(service).get('/health/ready')).body.checks.clicks, 'ok');
	t.is((await admin(service).get('/admin/status')).body.clicks.waitingBytes, 0);
});

run('a batch that is brought again, alone or with later clicks, is counted once', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const entries = [1, 2, 3].map(() => entry(clickOn(acme, id)));
	const raw = createRawStore(server.clickHouse);
	const {db} = service.services;
	const batch = batchId(id, {segment: 0, position: 0});
	for (const some of [entries.slice(0, 2), entries]) {
		await t.throwsAsync(
			db.transaction(async (trx) => {
				await raw.store(trx, batch, [sectionOf(some)]);
				throw new Error('the transaction fails behind ClickHouse');
			}),
			{message: /behind/},
		);
	}

	await db.transaction((trx) => raw.store(trx, batch, [sectionOf(entries)]));
	const {totals, breakdowns} = await statsOf(service, acme, `linkId=${id}`);
	t.is(totals.clicks, 3);
	t.deepEqual(breakdowns.platform, [{key: 'ios', count: 3}]);
});

run('a click that ClickHouse has and PostgreSQL has lost the answer to is stored once', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const left = await leftBehind(t, service, [frameOf([entry(clickOn(acme, id))]), frameOf([entry(clickOn(acme, id))])]);
	const raw = createRawStore(server.clickHouse);
	const drainsOf = () =>
		createDrains(left.folder, {
			db: service.services.db,
			clickPartitions: service.services.clickPartitions,
			raw,
			onRefused: (_, error) => t.fail(String(error)),
			onDamage: () => t.fail(),
		});
	// Several processes drain the same journal at once, from the same position.
	const all = [drainsOf(), drainsOf(), drainsOf()];
	for (let round = 0; round < 3; round += 1) {
		await Promise.all(all.flatMap(({tables, store}) => [tables.step(), store?.step()]));
	}

	t.is((await statsOf(service, acme, `linkId=${id}`)).totals.clicks, 2);
	t.is((await statsOf(service, acme)).totals.clicks, 2);
	t.is(await countOf(service, acme), 2);
});

run('what is stored about a device is exported and erased, also in ClickHouse', async (t) => {
	const acme = await organization(service);
	const sale = await link(acme);
	const address = network()(1);
	await visit(service, sale, address);
	await open(service, address, {...iPhoneApp, deviceId: 'device-of-ada'}, acme);
	const data = `/admin/organizations/${acme.id}/devices/device-of-ada/data`;
	const {body} = await admin(service).get(data);
	t.like(body.clicks[0], {linkId: sale.id, os: 'iOS', osVersion: '17.5.1', timezone: 'America/New_York'});
	const {clickId} = body.clicks[0];
	const contextsOf = () =>
		server.clickHouse.select<{context_id: string}>(
			`SELECT DISTINCT toString(context_id) AS context_id FROM clicks WHERE id = toUUID('${clickId}')`,
		);
	const [before] = await contextsOf();
	t.is((await admin(service).delete(data)).status, 200);
	const {totals, breakdowns} = await statsOf(service, acme, `linkId=${sale.id}`);
	t.is(totals.clicks, 1);
	t.deepEqual(breakdowns.platform, [{key: 'ios', count: 1}]);
	// ClickHouse deletes what was there before in its own time.
	for (let tries = 0; (await contextsOf()).some(({context_id: id}) => id === before?.context_id); tries += 1) {
		t.true(tries < 200);
		await delay(50);
	}

	const [left] = await contextsOf();
	const context = await service.services.db('click_contexts').where({id: left?.context_id}).first();
	t.like(context, {platform: 'ios', os: null, os_version: null, timezone: null, language: null});
	t.is((await admin(service).get(data)).status, 404);
});

run('an erasure while ClickHouse is away is seen by the first report after it', async (t) => {
	const acme = await organization(service);
	const sale = await link(acme);
	const address = network()(1);
	await visit(service, sale, address);
	await open(service, address, {...iPhoneApp, deviceId: 'device-of-bob'}, acme);
	await server.kill();
	const data = `/admin/organizations/${acme.id}/devices/device-of-bob/data`;
	t.is((await admin(service).delete(data)).status, 200);
	await server.start();
	const stream = await listen(t, service, {query: `?orgId=${acme.id}`});
	const {data: recent} = await stream.nextOf('recent');
	t.is(recent.latest.find(({type}: {type: string}) => type === 'click').data.browser, null);
	stream.leave();
});

run('a deleted organization takes its clicks with it, and a deleted link its open matches', async (t) => {
	const acme = await organization(service);
	const [one, other] = [await link(acme), await link(acme)];
	await visit(service, one, network()(1));
	await visit(service, other, network()(2));
	await statsOf(service, acme, `linkId=${one.id}`);
	const matches = async () => (await service.services.db('match_clicks').where({organization_id: acme.id})).length;
	t.is(await matches(), 2);
	await admin(service).delete(`/admin/organizations/${acme.id}/links/${one.id}`);
	t.is(await matches(), 1);
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: null});
	t.is((await admin(service).delete(`/admin/organizations/${acme.id}`)).status, 200);
	await service.services.clicks.applyChanges();
	for (let tries = 0; ; tries += 1) {
		const [row] = await server.clickHouse.select<{count: number}>(
			`SELECT count() AS count FROM clicks WHERE organization_id = toUUID('${acme.id}')`,
		);
		if (row?.count === 0) {
			break;
		}

		t.true(tries < 200);
		await delay(50);
	}
});

run('the stream sends each click once, and the last hour has those before it', async (t) => {
	const acme = await organization(service);
	const sale = await link(acme);
	await visit(service, sale, network()(1));
	const stream = await listen(t, service, {query: `?orgId=${acme.id}`});
	const {data: recent} = await stream.nextOf('recent');
	t.is(recent.perSecond.at(-1), 1);
	t.deepEqual(recent.platforms, [{key: 'ios', count: 1}]);
	t.is(recent.links[0].count, 1);
	t.like(recent.latest[0], {type: 'click', data: {browser: 'Safari', platform: 'ios'}});
	await visit(service, sale, network()(2), {userAgent: userAgents.android});
	const {data: click} = await stream.nextOf('click');
	t.like(click, {platform: 'android', link: {id: sale.id}, organization: {id: acme.id}});
	await visit(service, sale, network()(3), {userAgent: userAgents.windows});
	t.is((await stream.nextOf('click')).data.platform, 'desktop');
	stream.leave();
});

run('a month is dropped when it is over, and reports stay as they are', async (t) => {
	const own = await startService({CLICKS_URL: await server.database()});
	t.teardown(() => own.stop());
	const acme = await organization(own);
	const sale = await link(acme);
	own.clock.set(new Date('2026-01-10T12:07:30.000Z'));
	await visit(own, sale, network()(1));
	own.clock.advance(3600);
	await visit(own, sale, network()(2), {userAgent: userAgents.android});
	own.clock.set(new Date('2026-03-10T12:00:00.000Z'));
	await visit(own, sale, network()(3));
	const kathmandu = 'timezone=Asia/Kathmandu&from=2026-01-10T18:30&to=2026-03-11&interval=month';
	const before = await statsOf(own, acme, kathmandu);
	t.is(before.totals.clicks, 2);
	const {clicks, clock, db} = own.services;
	t.deepEqual(await clicks.dropOld(db, {now: clock.now(), days: 20}), {dropped: [], left: 'uncounted'});
	await rollUp(db);
	t.deepEqual(await clicks.dropOld(db, {now: clock.now(), days: 20}), {dropped: ['202601'], left: null});
	t.deepEqual(await statsOf(own, acme, kathmandu), before);
	t.is((await statsOf(own, acme, `linkId=${sale.id}&from=2026-01-01`)).totals.clicks, 1);
	t.deepEqual(await clicks.dropOld(db, {now: clock.now(), days: 20}), {dropped: [], left: null});
});

const runBinary = async (t: ExecutionContext, args: string[], env: Record<string, string>) => {
	const {ended, stdout, stderr} = oplink(t, args, env);
	return {code: await ended, stdout: stdout(), stderr: stderr()};
};

/** A database, a folder and ClickHouse for processes of the binary. */
const stage = async (t: ExecutionContext) => {
	const database = await createTestDatabase();
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-clickhouse-test-'));
	const db = createDb(database.url);
	const clicksUrl = await server.database();
	t.teardown(async () => {
		await db.destroy();
		await database.drop();
		await rm(folder, {recursive: true, force: true});
	});
	const env = {DATABASE_URL: database.url, DATA_DIR: folder, LOG_LEVEL: 'error', PORT: '0'};
	return {db, folder, env, clicksUrl, clickHouse: createClickHouse(readClickHouseUrl(clicksUrl))};
};

run('kill -9 of the server and of ClickHouse under load loses no answered click and doubles none', async (t) => {
	t.timeout(120_000);
	const {db, env, clicksUrl, clickHouse} = await stage(t);
	const loads: Load[] = [];
	let target: {path: string; owner: TestOrganization; id: string} | null = null;
	for (const round of [0, 1, 2]) {
		const running = await startProcess(t, {...env, CLICKS_URL: clicksUrl});
		if (target === null) {
			const owner = await organization(running.asService);
			const made = await link(owner);
			target = {path: pathOf(made.url), owner, id: made.id};
		}

		const before = loads.length;
		let answered = 0;
		let isKilled = false;
		const load = visitMany(new URL(target.path, running.url), {
			connections: 4,
			continues: (count) => {
				answered = count;
				return !isKilled;
			},
		});
		for (const [after, end] of [
			[150, () => server.kill()],
			[300, () => server.start()],
			[450, () => (round === 1 ? server.kill() : Promise.resolve())],
			[500, () => Promise.resolve(running.child.kill('SIGKILL'))],
		] as const) {
			while (answered < after) {
				await delay(5);
			}

			await end();
		}

		isKilled = true;
		loads.push(await load);
		t.is(loads.length, before + 1);
		await running.ended;
		if (round === 1) {
			await server.start();
		}
	}

	const last = await startProcess(t, {...env, CLICKS_URL: clicksUrl});
	const {id, owner} = target ?? t.fail();
	const {totals} = await statsOf(last.asService, owner, `linkId=${id}`);
	const shown = new Set(loads.flatMap(({tokens}) => tokens.map((token) => clickIdOfToken(token as MatchToken))));
	const rows = await clickHouse.select<{id: string}>('SELECT id FROM clicks FINAL');
	const stored = new Set(rows.map((row) => row.id));
	t.is([...shown].filter((one) => !stored.has(one)).length, 0, 'shown, and lost');
	t.is(stored.size, rows.length, 'doubled');
	t.is(totals.clicks, rows.length);
	const now = new Date().toISOString();
	t.is(
		(await statsOf(last.asService, owner, `from=2020-01-01&to=${now.slice(0, 10)}T23:59:59Z`)).totals.clicks,
		rows.length,
	);
	const [total] = await db('click_counts').sum('clicks');
	t.is(Number(total?.['sum']), rows.length);
	t.log(`${shown.size} pages with tokens, ${rows.length} clicks`);
});

run('clicks move to ClickHouse and back, with every figure, and a backup has them wherever they are', async (t) => {
	t.timeout(120_000);
	const own = await stage(t);
	const elsewhere = {...own.env, CLICKS_URL: own.clicksUrl};
	const first = await startProcess(t, own.env);
	const acme = await organization(first.asService);
	const [sale, email] = [await link(acme), await link(acme)];
	const address = network();
	for (const [index, target] of [sale, sale, email].entries()) {
		await visit(first.asService, target, address(index + 1), {headers: {Referer: `https://shop-${index}.example/`}});
	}

	const figures = async (at: TestService) => [
		await statsOf(at, acme),
		await statsOf(at, acme, `linkId=${sale.id}`),
		await statsOf(at, acme, 'timezone=Asia/Kathmandu&interval=hour'),
	];
	const expected = await figures(first.asService);
	const stop = async ({child, ended}: Process) => {
		child.kill('SIGTERM');
		await ended;
	};
	await stop(first);
	const rowsBefore = await own.db('clicks').orderBy('id').select('id', 'occurred_at', 'context_id', 'referrer_host');

	const refused = await runBinary(t, ['serve'], elsewhere);
	t.is(refused.code, 78);
	t.regex(refused.stderr, /clicks are in PostgreSQL/);
	const there = await runBinary(t, ['clicks', 'migrate', 'clickhouse', '--yes'], elsewhere);
	t.is(there.code, 0, there.stderr);
	t.regex(there.stdout, /3 clicks moved to ClickHouse/);
	t.deepEqual(await own.db('clicks').select(), []);
	t.regex((await runBinary(t, ['serve'], own.env)).stderr, /CLICKS_URL must be set/);
	const second = await startProcess(t, elsewhere);
	t.deepEqual(await figures(second.asService), expected);
	await visit(second.asService, email, address(9));
	await statsOf(second.asService, acme, `linkId=${email.id}`);
	const file = path.join(own.folder, 'one.backup');
	const backedUp = await runBinary(t, ['backup', file], elsewhere);
	t.is(backedUp.code, 0, backedUp.stderr);
	await stop(second);

	const back = await runBinary(t, ['clicks', 'migrate', 'postgres', '--yes'], elsewhere);
	t.is(back.code, 0, back.stderr);
	t.is(await storedRows(own), 0);
	const rowsAfter = await own.db('clicks').orderBy('id').select('id', 'occurred_at', 'context_id', 'referrer_host');
	t.is(rowsAfter.length, 4);
	t.deepEqual(
		rowsAfter.filter(({id}) => rowsBefore.some((row) => row.id === id)),
		rowsBefore,
	);
	const third = await startProcess(t, own.env);
	const withOne = await figures(third.asService);
	t.is(withOne[0].totals.clicks, 4);
	t.deepEqual(withOne[1], expected[1]);
	await stop(third);

	const restored = await runBinary(t, ['restore', file, '--force', '--yes'], own.env);
	t.is(restored.code, 0, restored.stderr);
	const fourth = await startProcess(t, own.env);
	t.deepEqual(await figures(fourth.asService), withOne);
	await stop(fourth);
});
