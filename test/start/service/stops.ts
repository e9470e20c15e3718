import {once} from 'node:events';
import {type IncomingMessage, request} from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {createDb, type Db} from '../../../src/platform/db/db.ts';
import {link, organization} from '../../helpers/builders.ts';
import {send} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {dataDirectory, oplink} from '../../helpers/process.ts';
import {freePort} from '../../setup/free-port.ts';
import {adminToken, startProcess} from '../../visits/clicks/_process.ts';

/** Keeps clicks from being drained, until it is rolled back. */
const lockClicks = async (t: ExecutionContext, db: Db) => {
	const lock = await db.transaction();
	t.teardown(() => lock.isCompleted() || lock.rollback());
	await lock.raw('LOCK TABLE clicks IN ACCESS EXCLUSIVE MODE');
	return lock;
};

test('a request that came while a start still drains a journal is answered, although the start is to stop', async (t) => {
	const database = await createTestDatabase();
	const db = createDb(database.url);
	t.teardown(async () => {
		await db.destroy();
		await database.drop();
	});
	const port = await freePort();
	const env = {DATABASE_URL: database.url, DATA_DIR: await dataDirectory(t)};
	const killed = await startProcess(t, env);
	const {url} = await link(await organization(killed.asService));
	const lock = await lockClicks(t, db);
	t.is((await send(killed.url, 'GET', new URL(url).pathname)).status, 200);
	killed.child.kill('SIGKILL');
	await killed.ended;

	const {child, ended, printed} = oplink(t, ['serve'], {...env, PORT: String(port), ADMIN_TOKEN: adminToken});
	await printed(/draining the journal of a dead process/);
	const waiting = request({port, path: '/health/live'}).end();
	const answered = once(waiting, 'response') as Promise<[IncomingMessage]>;
	const [socket] = await once(waiting, 'socket');
	await once(socket, 'connect');
	child.kill('SIGTERM');
	await printed(/stopping/);
	await lock.rollback();
	const [response] = await answered;
	t.is(response.statusCode, 200);
	response.resume();
	t.is(await ended, 0);
});

for (const WORKERS of ['1', '2']) {
	test(`a silent database holds no stop up, and its clicks come with the next start, with WORKERS=${WORKERS}`, async (t) => {
		const database = await createTestDatabase();
		const {line, url: through} = await openDatabaseLine(database.url);
		const db = createDb(database.url);
		t.teardown(async () => {
			await line.close();
			await db.destroy();
			await database.drop();
		});
		const env = {DATA_DIR: await dataDirectory(t), SHUTDOWN_TIMEOUT: '0'};
		const lines: string[] = [];
		const stopped = await startProcess(t, {...env, WORKERS, DATABASE_URL: through}, (text) => lines.push(text));
		const acme = await organization(stopped.asService);
		const {url} = await link(acme);
		const lock = await lockClicks(t, db);
		t.is((await send(stopped.url, 'GET', new URL(url).pathname)).status, 200);
		line.freeze();
		const unanswered = acme.server.get('/links').catch(() => null);
		stopped.child.kill('SIGTERM');
		t.deepEqual(await stopped.ended, [0, null]);
		t.is(await unanswered, null);
		t.true(lines.some((text) => text.includes('clicks remain in the journal until the next start')));

		await line.cut();
		await lock.rollback();
		const next = await startProcess(t, {...env, DATABASE_URL: database.url});
		const stored = async () => (await db('clicks').select('id')).length;
		while ((await stored()) === 0) {
			// A busy machine may drain the journal after the start.
		}

		next.child.kill('SIGTERM');
		await next.ended;
		t.is(await stored(), 1);
	});
}

/** Keeps workers from starting. */
const hold = `data:text/javascript,import cluster from 'node:cluster';
	if (cluster.isWorker) {console.error('held ' + process.pid); await new Promise(() => setInterval(() => {}, 1e9))}`;

for (const [signal, exitCode] of [
	['SIGTERM', 0],
	['SIGINT', 130],
] as const) {
	test(`${signal} before any worker is ready ends with ${exitCode}`, async (t) => {
		const database = await createTestDatabase();
		t.teardown(() => database.drop());
		const {child, ended, printed} = oplink(t, ['serve'], {
			PORT: '0',
			WORKERS: '2',
			DATA_DIR: await dataDirectory(t),
			DATABASE_URL: database.url,
			NODE_OPTIONS: `--import=${encodeURI(hold)}`,
		});
		const [, worker] = await printed(/held (\d+)/);
		child.kill(signal);
		await printed(/stopping/);
		process.kill(Number(worker), 'SIGKILL');
		t.is(await ended, exitCode);
	});
}
