import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {readClickHouseUrl} from '../../../src/platform/config/database-url.ts';
import {createClickHouse} from '../../../src/visits/click-stores/clickhouse/clickhouse.ts';
import {link, organization} from '../../helpers/builders.ts';
import {oplink} from '../../helpers/process.ts';
import {until} from '../../helpers/redis-server.ts';
import type {TestService} from '../../helpers/service.ts';
import {startWorkers} from '../../helpers/workers.ts';
import {linked, statsOf} from '../_own.ts';
import {network, pathOf, visit} from '../matches/_phones.ts';
import {idsIn, its, run, stage} from './_clickhouse.ts';
import {type Load, onceAnswered, shownIn, startProcess, visitMany} from './_process.ts';

/** Runs a command to its end. @returns what it printed, once it has ended with that code. */
const runBinary = async (t: ExecutionContext, args: string[], env: Record<string, string>, code = 0) => {
	const {ended, stdout, stderr} = oplink(t, args, env);
	t.is(await ended, code, stderr());
	return {stdout: stdout(), stderr: stderr()};
};

run('kill -9 of the server and of ClickHouse under load loses no answered click and doubles none', async (t) => {
	t.timeout(120_000);
	const {db, env, clicksUrl, clickHouse} = await stage(t);
	const loads: Load[] = [];
	const start = () => startProcess(t, {...env, CLICKS_URL: clicksUrl});
	let running = await start();
	const owner = await organization(running.asService);
	const {id, url} = await link(owner);
	for (const round of [0, 1, 2]) {
		const {child, ended} = running;
		let answered = 0;
		let isKilled = false;
		const load = visitMany(new URL(pathOf(url), running.url), {
			connections: 4,
			continues: (count) => {
				answered = count;
				return !isKilled;
			},
		});
		for (const [after, end] of [
			[150, () => its.server.kill()],
			[300, () => its.server.start()],
			[450, () => (round === 1 ? its.server.kill() : Promise.resolve())],
			[500, () => Promise.resolve(child.kill('SIGKILL'))],
		] as const) {
			while (answered < after) {
				await delay(5);
			}

			await end();
		}

		isKilled = true;
		loads.push(await load);
		await ended;
		if (round === 1) {
			await its.server.start();
		}

		running = await start();
	}

	const {totals} = await statsOf(running.asService, owner, `linkId=${id}`);
	const shown = new Set(shownIn(loads));
	const rows = await idsIn(clickHouse);
	const stored = new Set(rows);
	t.is([...shown].filter((one) => !stored.has(one)).length, 0, 'shown, and lost');
	t.is(stored.size, rows.length, 'doubled');
	t.is(totals.clicks, rows.length);
	const untilTonight = `from=2020-01-01&to=${new Date().toISOString().slice(0, 10)}T23:59:59Z`;
	t.is((await statsOf(running.asService, owner, untilTonight)).totals.clicks, rows.length);
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
	await first.stop();
	const rowsOf = () => own.db('clicks').orderBy('id').select('id', 'occurred_at', 'context_id', 'referrer_host');
	const rowsBefore = await rowsOf();

	t.regex((await runBinary(t, ['serve'], elsewhere, 78)).stderr, /clicks are in PostgreSQL/);
	const {stdout} = await runBinary(t, ['clicks', 'migrate', 'clickhouse', '--yes'], elsewhere);
	t.regex(stdout, /3 clicks moved to ClickHouse/);
	t.deepEqual(await own.db('clicks').select(), []);
	t.regex((await runBinary(t, ['serve'], own.env, 78)).stderr, /CLICKS_URL must be set/);
	const second = await startProcess(t, elsewhere);
	t.deepEqual(await figures(second.asService), expected);
	await visit(second.asService, email, address(9));
	await statsOf(second.asService, acme, `linkId=${email.id}`);
	const file = path.join(own.folder, 'one.backup');
	await runBinary(t, ['backup', file], elsewhere);
	await second.stop();

	await runBinary(t, ['clicks', 'migrate', 'postgres', '--yes'], elsewhere);
	t.deepEqual(await idsIn(own.clickHouse), []);
	const rowsAfter = await rowsOf();
	t.is(rowsAfter.length, 4);
	const kept = rowsAfter.filter(({id}) => rowsBefore.some((row) => row.id === id));
	t.deepEqual(kept, rowsBefore);
	const third = await startProcess(t, own.env);
	const withOne = await figures(third.asService);
	t.is(withOne[0].totals.clicks, 4);
	t.deepEqual(withOne[1], expected[1]);
	await third.stop();

	await runBinary(t, ['restore', file, '--force', '--yes'], own.env);
	const fourth = await startProcess(t, own.env);
	t.deepEqual(await figures(fourth.asService), withOne);
	await fourth.stop();
});

run('with two workers, and kill -9 of each of them under load, each click is there once', async (t) => {
	const clicksUrl = await its.server.database();
	const clickHouse = createClickHouse(readClickHouseUrl(clicksUrl));
	const {service, url, workers, stop, printed} = await startWorkers({CLICKS_URL: clicksUrl});
	t.teardown(stop);
	const {acme, ...sale} = await linked(service);
	const loads: Load[] = [];
	for (const victim of workers()) {
		const isGone = onceAnswered(200, () => process.kill(victim, 'SIGKILL'));
		const continues = (answered: number) => !isGone(answered) || answered < 400;
		loads.push(await visitMany(new URL(pathOf(sale.url), url), {connections: 6, keepAlive: false, continues}));
		await printed(new RegExp(`"worker":${victim},[\\s\\S]*another one takes its place[\\s\\S]*"msg":"ready"`));
	}

	const shown = shownIn(loads);
	// A start adopts the journal of the dead one, while it is already answering.
	await until(async () => {
		const there = new Set(await idsIn(clickHouse));
		return shown.every((id) => there.has(id));
	});
	const ids = await idsIn(clickHouse);
	t.is(new Set(ids).size, ids.length);
	t.true(shown.length > 400);
	// Both workers answer, whichever has drained the journals.
	for (const _ of [1, 2, 3, 4]) {
		t.is((await statsOf(service, acme, `linkId=${sale.id}`)).totals.clicks, ids.length);
		t.is((await statsOf(service, acme)).totals.clicks, ids.length);
	}
});
