import {createServer} from 'node:http';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {exitCodes} from '../../../src/cli/cli-errors.ts';
import {recordStore} from '../../../src/visits/click-stores/clickhouse/storage-location.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {databaseOf} from '../../helpers/database.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {startService, type TestService} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';
import {freePort} from '../../setup/free-port.ts';
import {linked, ownService, statsOf} from '../_own.ts';
import {device, iPhoneApp, network, open, tapped, visit} from '../matches/_phones.ts';
import {listen} from '../reports/_event-stream.ts';
import {idsIn, its, run} from './_clickhouse.ts';
import {listening} from './_process.ts';

const findingOf = async (at: TestService, wanted: string) => {
	const {body} = await admin(at).get('/admin/doctor');
	return body.findings.find(({check}: {check: string}) => check === wanted);
};

/** A tap, and the first open of a device that is matched to it. @returns also the path of what is stored about it. */
const story = async (deviceId: string) => {
	const {acme, address, link: sale} = await tapped(its.service);
	await open(its.service, address, device(deviceId), acme);
	return {acme, sale, data: `/admin/organizations/${acme.id}/devices/${deviceId}/data`};
};

/** ClickHouse deletes in its own time. */
const untilClickHouse = async (t: ExecutionContext, isDone: () => Promise<boolean>) => {
	for (let tries = 0; !(await isDone()); tries += 1) {
		t.true(tries < 200);
		await delay(50);
	}
};

run('what is stored about a device is exported and erased, also in ClickHouse', async (t) => {
	const {acme, sale, data} = await story('device-of-ada');
	const {body} = await admin(its.service).get(data);
	t.like(body.clicks[0], {linkId: sale.id, os: 'iOS', osVersion: '17.5.1', timezone: 'America/New_York'});
	const {clickId} = body.clicks[0];
	const contextsOf = async () => {
		const query = `SELECT DISTINCT toString(context_id) AS context FROM clicks WHERE id = toUUID('${clickId}')`;
		return (await its.server.clickHouse.select<{context: string}>(query)).map(({context}) => context);
	};
	const [before = ''] = await contextsOf();
	t.is((await admin(its.service).delete(data)).status, 200);
	const {totals, breakdowns} = await statsOf(its.service, acme, `linkId=${sale.id}`);
	t.is(totals.clicks, 1);
	t.deepEqual(breakdowns.platform, [{key: 'ios', count: 1}]);
	await untilClickHouse(t, async () => !(await contextsOf()).includes(before));
	const [left = ''] = await contextsOf();
	const context = await its.service.services.db('click_contexts').where({id: left}).first();
	t.like(context, {platform: 'ios', os: null, os_version: null, timezone: null, language: null});
	t.is((await admin(its.service).get(data)).status, 404);
});

run('a deleted organization takes its clicks with it, and a deleted link its open matches', async (t) => {
	const acme = await organization(its.service);
	const [one, other] = [await link(acme), await link(acme)];
	await visit(its.service, one, network()(1));
	await visit(its.service, other, network()(2));
	await statsOf(its.service, acme, `linkId=${one.id}`);
	const matches = async () => (await its.service.services.db('match_clicks').where({organization_id: acme.id})).length;
	t.is(await matches(), 2);
	await admin(its.service).delete(`/admin/organizations/${acme.id}/links/${one.id}`);
	t.is(await matches(), 1);
	await admin(its.service).put(`/admin/organizations/${acme.id}/plan`, {plan: null});
	t.is((await admin(its.service).delete(`/admin/organizations/${acme.id}`)).status, 200);
	await its.service.services.clicks.applyChanges();
	const count = `SELECT count() AS count FROM clicks WHERE organization_id = toUUID('${acme.id}')`;
	await untilClickHouse(t, async () => {
		const [row] = await its.server.clickHouse.select<{count: number}>(count);
		return row?.count === 0;
	});
});

run('an erasure while ClickHouse is away is seen by the first report after it', async (t) => {
	const {acme, data} = await story('device-of-bob');
	await its.server.kill();
	t.is((await admin(its.service).delete(data)).status, 200);
	await its.server.start();
	const stream = await listen(t, its.service, {query: `?orgId=${acme.id}`});
	const {data: recent} = await stream.nextOf('recent');
	t.is(recent.latest.find(({type}: {type: string}) => type === 'click').data.browser, null);
	stream.leave();
});

run('while ClickHouse is away, pages, matches and quotas go on, and rows wait in the journal', async (t) => {
	const {acme, ...sale} = await linked(its.service);
	const address = network();
	await visit(its.service, sale, address(1));
	await statsOf(its.service, acme, `linkId=${sale.id}`);
	const before = (await idsIn(its.server.clickHouse)).length;
	await its.server.kill();
	await visit(its.service, sale, address(2));
	t.like((await open(its.service, address(2), iPhoneApp)).body, {matched: true, linkId: sale.id});
	const {body: usage} = await admin(its.service).get(`/admin/organizations/${acme.id}/usage`);
	t.is(usage.usage?.clicks?.used ?? usage.clicks?.used, 2);
	// Of whole days, which the rollups have.
	t.is((await statsOf(its.service, acme)).totals.clicks, 2);
	const refused = await admin(its.service).get(`/admin/organizations/${acme.id}/stats?linkId=${sale.id}`);
	t.like(refused, {status: 503, body: {message: 'Click store unavailable'}});
	const ready = await admin(its.service).get('/health/ready');
	t.like(ready, {status: 200, body: {checks: {clicks: 'unavailable'}}});
	t.true((await admin(its.service).get('/admin/status')).body.clicks.waitingBytes > 0);
	t.is((await findingOf(its.service, 'clicks.reachable')).status, 'fail');

	await its.server.start();
	t.is((await statsOf(its.service, acme, `linkId=${sale.id}`)).totals.clicks, 2);
	t.is((await idsIn(its.server.clickHouse)).length, before + 1);
	t.is((await admin(its.service).get('/health/ready')).body.checks.clicks, 'ok');
	t.is((await admin(its.service).get('/admin/status')).body.clicks.waitingBytes, 0);
});

run('a full journal takes no more clicks and loses none that it took, and doctor and metrics say so', async (t) => {
	const own = await ownService(t, {CLICKS_URL: await its.server.database(), JOURNAL_MAX_MB: '1'});
	const {acme, ...sale} = await linked(own);
	await its.server.kill();
	const address = network();
	const query = `?note=${'x'.repeat(7000)}`;
	let [kept, lost] = [0, 0];
	for (let host = 1; lost < 3 && host < 250; host += 1) {
		const {token} = await visit(own, sale, address(host), {query});
		[kept, lost] = token === null ? [kept, lost + 1] : [kept + 1, lost];
	}

	t.is(lost, 3);
	const {waitingBytes, maxBytes} = own.services.clickJournal.figures();
	t.is(maxBytes, 2 ** 20);
	t.true(waitingBytes >= maxBytes && waitingBytes < maxBytes + 10_000, `${waitingBytes}`);
	const message = '1.0 of 1 MB wait in the journal of this process, 3 clicks lost since it started';
	t.like(await findingOf(own, 'clicks.journal'), {status: 'fail', message});
	const {text} = await admin(own).get('/metrics');
	t.regex(text, /^oplink_click_journal_limit_bytes 1048576$/m);
	t.regex(text, /^oplink_click_journal_lost_total 3$/m);

	await its.server.start();
	t.is((await statsOf(own, acme, `linkId=${sale.id}`)).totals.clicks, kept);
	t.is((await statsOf(own, acme)).totals.clicks, kept);
	t.not((await visit(own, sale, address(251), {query})).token, null);
	t.is((await statsOf(own, acme, `linkId=${sale.id}`)).totals.clicks, kept + 1);
	t.is((await findingOf(own, 'clicks.journal')).status, 'warn');
});

run('commands say which ClickHouse is away, without its password, and what to do', async (t) => {
	const {acme, sale} = await story('device-of-eve');
	await its.server.kill();
	t.teardown(() => its.server.start());
	const {adminToken, databaseUrl, url, services} = its.service;
	const remote = {OPLINK_ADMIN_TOKEN: adminToken, OPLINK_URL: url};
	const person = `--org ${acme.id} --device device-of-eve`;
	for (const line of [`stats --link ${sale.id} --org ${acme.id}`, `privacy export ${person}`]) {
		const {exitCode, stderr} = await runCli(line.split(' '), {env: remote});
		t.is(exitCode, exitCodes.failed, stderr);
		t.regex(stderr, /^Error: Click store unavailable$/m);
		t.regex(stderr, /^Next: .*CLICKS_URL.*oplink doctor/m);
	}

	t.is((await runCli(`privacy erase ${person} --yes`.split(' '), {env: remote})).exitCode, 0);
	const away = /ClickHouse at http:\/\/127\.0\.0\.1:\d+\/test_\w+ \(CLICKS_URL\) cannot be used: connect ECONNREFUSED/;
	t.regex((await findingOf(its.service, 'clicks.reachable')).message, away);

	const stores = {DATABASE_URL: databaseUrl, CLICKS_URL: services.config.clicksUrl ?? ''};
	const local = {...stores, DATA_DIR: await dataDirectory(t)};
	const unanswered = {...local, OPLINK_URL: `http://127.0.0.1:${await freePort()}`, OPLINK_ADMIN_TOKEN: adminToken};
	const examined = await runCli(['doctor'], {env: unanswered});
	// Wrapped for a terminal.
	t.regex(examined.stdout.replaceAll(/\s+/g, ' '), away);
	const backup = await runCli(['backup', path.join(local.DATA_DIR, 'one.backup')], {env: local});
	t.is(backup.exitCode, exitCodes.unreachable, backup.stderr);
	t.regex(backup.stderr, away);
	t.regex(backup.stderr, /^Next: Start ClickHouse, or correct CLICKS_URL/m);
	t.notRegex(`${backup.stderr}${examined.stdout}`, /p@ss|p%40ss/);
});

test('a backup fails where ClickHouse ends its rows with an error', async (t) => {
	const row = '019cd79e-4600-705b-b3c1-58fe4a0d38fc\t2026-03-10 12:07:30.000000Z\ta\tb\t1\t\\N\t\\N\t0';
	const broken = createServer((_, response) => response.end(`${row}\nCode: 241, DB::Exception: Memory limit exceeded`));
	const port = await listening(t, broken);
	const database = await databaseOf(t);
	const own = await startedIn(t, startService({}, undefined, database));
	await recordStore(own.services.db, 'clickhouse');
	const folder = await dataDirectory(t);
	const env = {DATABASE_URL: database.url, CLICKS_URL: `clickhouse://127.0.0.1:${port}`, DATA_DIR: folder};
	const {exitCode, stderr} = await runCli(['backup', path.join(folder, 'one.backup')], {env});
	t.is(exitCode, exitCodes.unreachable);
	t.regex(stderr, /broke off its answer: Code: 241, DB::Exception: Memory limit exceeded/);
});
