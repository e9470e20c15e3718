import {readdir} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {pathOf} from '../matches/_phones.ts';
import {type Load, onceAnswered, type Process, shownIn, stage, startProcess, visitMany} from './_process.ts';

type Stage = Awaited<ReturnType<typeof stage>>;

/** Every shown click is stored once, and nothing else. */
const assertExact = async (t: ExecutionContext, {db}: Stage, loads: Load[]): Promise<void> => {
	const rows = await db('match_clicks').select('id');
	const stored = new Set(rows.map(({id}) => id));
	t.is(shownIn(loads).filter((id) => !stored.has(id)).length, 0, 'shown, and lost');
	const clicks = await db('clicks').select('id');
	t.is(new Set(clicks.map(({id}) => id)).size, clicks.length, 'doubled');
	t.is(rows.length, clicks.length);
	t.true(clicks.length <= loads.reduce((sum, {sent}) => sum + sent, 0));
	const [total] = await db('click_counts').sum('clicks');
	t.is(Number(total?.sum), clicks.length);
};

/**
 * Makes links until the process is gone, and keeps the ids of those that were answered. The one whose answer did not come
 * is asked for again by the next process.
 */
const makeLinks = async (running: Process, organizationId: string, ids: string[]): Promise<void> => {
	const operator = admin(running.asService);
	for (let isThere = true; isThere; ) {
		const path = `/made-${ids.length}`;
		const answer = await operator
			.post(`/admin/organizations/${organizationId}/links`, {path}, {'Idempotency-Key': path})
			.catch(() => null);
		isThere = answer !== null;
		ids.push(...(answer?.status === 201 ? [answer.body.id] : []));
	}
};

const journals = async ({folder}: Stage): Promise<string[]> => {
	const [root = ''] = await readdir(path.join(folder, 'journal'));
	return readdir(path.join(folder, 'journal', root));
};

test('kill -9 under load, time and again, loses nothing that was answered and doubles nothing', async (t) => {
	const own = await stage(t);
	const loads: Load[] = [];
	let running = await startProcess(t, own.env);
	const owner = await organization(running.asService);
	const {url} = await link(owner);
	const ids: string[] = [];
	for (const killedAfter of [150, 400, 700]) {
		const {child, ended} = running;
		const making = makeLinks(running, owner.id, ids);
		const isKilled = onceAnswered(killedAfter, () => child.kill('SIGKILL'));
		const continues = (answered: number) => !isKilled(answered);
		loads.push(await visitMany(new URL(pathOf(url), running.url), {connections: 16, continues}));
		await Promise.all([ended, making]);
		// A start first completes the work of previous processes, before it answers; its stop leaves nothing.
		running = await startProcess(t, own.env);
	}

	await assertExact(t, own, loads);
	const rows = await own.db('links').whereLike('path', '/made-%').select('id', 'path');
	t.true(ids.length > 0);
	t.true(ids.every((id) => rows.some((row) => row.id === id)));
	t.is(new Set(rows.map(({path}) => path)).size, rows.length);
	await running.stop();
	t.deepEqual(await journals(own), []);
	t.true(loads.every(({tokens}) => tokens.length > 0));
});

for (const [name, keepAlive, WORKERS] of [
	['kept connections', true, '1'],
	['kept connections with two workers', true, '2'],
	['a connection for each request', false, '1'],
	['a connection for each request with two workers', false, '2'],
] as const) {
	test(`SIGTERM under load (${name}) fails no request that was taken, loses no click and leaves no journal`, async (t) => {
		const own = await stage(t);
		// Long enough for a client with an answer to send the next request, also on a busy machine.
		const running = await startProcess(t, {...own.env, WORKERS, SHUTDOWN_TIMEOUT: '60'});
		const {url} = await link(await organization(running.asService));
		const stop = onceAnswered(400, () => running.child.kill('SIGTERM'));
		const continues = (answered: number) => {
			stop(answered);
			return true;
		};
		const load = await visitMany(new URL(pathOf(url), running.url), {connections: 16, keepAlive, continues});
		await running.ended;
		await assertExact(t, own, [load]);
		t.deepEqual(await journals(own), []);
		t.deepEqual(Object.keys(load.statuses), ['200']);
		t.is(load.broken, 0);
	});
}

test('during a database outage known links resolve, readiness reports it, and the clicks arrive once afterwards', async (t) => {
	const own = await stage(t);
	const {line, url: through} = await openDatabaseLine(own.database.url);
	t.teardown(() => line.close());
	const running = await startProcess(t, {...own.env, DATABASE_URL: through});
	const {url} = await link(await organization(running.asService));
	const target = new URL(pathOf(url), running.url);
	// For a second nobody can know whether another process has written meanwhile.
	const since = performance.now();
	const before = await visitMany(target, {connections: 4, continues: () => performance.now() < since + 1500});
	await line.cut();
	const during = await visitMany(target, {connections: 4, continues: (answered) => answered < 300});
	t.deepEqual(during.statuses, {200: during.sent});
	t.is(during.tokens.length, during.sent);
	const ready = () => anonymous(running.asService).get('/health/ready');
	t.like(await ready(), {status: 503, body: {status: 'unavailable', checks: {database: 'unavailable'}}});
	await line.mend();
	t.like(await ready(), {status: 200, body: {status: 'ok', checks: {database: 'ok'}}});
	const after = await visitMany(target, {connections: 4, continues: (answered) => answered < 50});
	await running.stop();
	await assertExact(t, own, [before, during, after]);
	t.is((await own.db('clicks').select('id')).length, before.sent + during.sent + after.sent);
});
