import {once} from 'node:events';
import {type IncomingMessage, request} from 'node:http';
import {type AddressInfo, createServer as createTcpServer, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import type {Db} from '../../../src/platform/db/db.ts';
import {CLIENTS, createLoad, type Sent} from '../../_load.ts';
import {link, organization} from '../../helpers/builders.ts';
import {send} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {freePort} from '../../setup/free-port.ts';
import {adminToken, stage, startProcess} from '../../visits/clicks/_process.ts';

/** Keeps clicks from being drained, until it is rolled back. */
const lockClicks = async (t: ExecutionContext, db: Db) => {
	const lock = await db.transaction();
	t.teardown(() => lock.isCompleted() || lock.rollback());
	await lock.raw('LOCK TABLE clicks IN ACCESS EXCLUSIVE MODE');
	return lock;
};

test('a request that came while a start still drains a journal is answered, although the start is to stop', async (t) => {
	const {db, env} = await stage(t);
	const port = await freePort();
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
		const {db, env} = await stage(t);
		const {line, url: through} = await openDatabaseLine(env.DATABASE_URL);
		t.teardown(() => line.close());
		const lines: string[] = [];
		const cut = {...env, WORKERS, DATABASE_URL: through, SHUTDOWN_TIMEOUT: '0'};
		const stopped = await startProcess(t, cut, (text) => lines.push(text));
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
		const next = await startProcess(t, {...env, SHUTDOWN_TIMEOUT: '0'});
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

const signals = [
	['SIGTERM', 0],
	['SIGINT', 130],
] as const;

for (const [signal, exitCode] of signals) {
	test(`${signal} before any worker is ready ends with ${exitCode}`, async (t) => {
		const {env} = await stage(t);
		const NODE_OPTIONS = `--import=${encodeURI(hold)}`;
		const {child, ended, printed} = oplink(t, ['serve'], {...env, PORT: '0', WORKERS: '2', NODE_OPTIONS});
		const [, worker] = await printed(/held (\d+)/);
		child.kill(signal);
		await printed(/stopping/);
		process.kill(Number(worker), 'SIGKILL');
		t.is(await ended, exitCode);
	});

	for (const WORKERS of ['1', '2']) {
		test(`${signal} ends a start whose database is silent with ${exitCode}, with WORKERS=${WORKERS}`, async (t) => {
			const silent = createTcpServer().listen(0, '127.0.0.1');
			t.teardown(() => silent.close());
			await once(silent, 'listening');
			const DATABASE_URL = `postgres://oplink@127.0.0.1:${(silent.address() as AddressInfo).port}/oplink`;
			const env = {WORKERS, DATABASE_URL, PORT: '0', DATA_DIR: await dataDirectory(t)};
			const {child, ended, stderr} = oplink(t, ['serve'], env);
			const [connection] = (await once(silent, 'connection')) as [Socket];
			connection.on('error', () => {});
			child.kill(signal);
			t.is(await ended, exitCode);
			t.regex(stderr(), /stopped before it was ready/);
			t.notRegex(stderr(), /Error/);
		});
	}
}

/** A server over a database of its own, as soon as its first process answers. */
const start = async (t: ExecutionContext, env: Record<string, string>) => {
	const usual = {PORT: '0', ADMIN_TOKEN: adminToken, LOG_FORMAT: 'json', ...(await stage(t)).env};
	// A machine that is busy cuts no request off.
	const program = oplink(t, ['serve'], {...usual, SHUTDOWN_TIMEOUT: '100', ...env});
	t.teardown(() => program.child.kill('SIGTERM'));
	const [, port] = await program.printed(/"url":"[^"]*:(\d+)".*"msg":"ready"/);
	return {...program, port: Number(port)};
};

/** How requests ended that no answer came for, and answers that a client must not get. */
const failures = (sent: readonly Sent[]): string[] =>
	sent.flatMap(({outcome, status}) => (outcome === 'answered' && status < 500 ? [] : [`${outcome} ${status}`]));

for (const WORKERS of ['1', '2']) {
	test(`a SIGTERM under load leaves no request without an answer that came before, with WORKERS=${WORKERS}`, async (t) => {
		const {child, ended, port, printed} = await start(t, {WORKERS});
		await printed(ready);
		const load = createLoad(port);
		await load.ends(500);
		const before = load.sent();
		child.kill('SIGTERM');
		t.is(await ended, 0);
		await load.ended;
		t.deepEqual(failures(before), []);
	});
}

test('a worker that starts, or takes the place of another one, gets no request before it can answer', async (t) => {
	const {child, ended, port, printed, stderr} = await start(t, {WORKERS: '2'});
	const load = createLoad(port);
	await printed(ready);
	await load.ends(100);
	t.deepEqual(failures(load.sent().filter(({outcome}) => outcome !== 'under way')), []);
	const [, victim] = /"pid":(\d+),"msg":"ready"/.exec(stderr()) ?? [];
	process.kill(Number(victim), 'SIGKILL');
	await printed(/another one takes its place[\s\S]*"msg":"ready"/);
	await load.ends(100);
	const sent = load.sent().filter(({outcome}) => outcome !== 'under way');
	t.false(sent.some(({status}) => status >= 500));
	// The dead worker's requests are lost: at most one per client.
	t.true(failures(sent).length <= CLIENTS);
	child.kill('SIGTERM');
	t.is(await ended, 0);
	await load.ended;
});

test('a stop while workers still start, or greet, waits for nothing and leaves no fault in the log', async (t) => {
	// A longer wait would not end the test.
	const env = {PORT: '0', WORKERS: '2', LOG_FORMAT: 'json', SHUTDOWN_TIMEOUT: '3600'};
	const program = oplink(t, ['serve'], {...env, DATA_DIR: await dataDirectory(t)});
	const [, port] = await program.printed(/"url":"[^"]*:(\d+)".*"msg":"ready"/);
	t.is((await send(`http://127.0.0.1:${port}`, 'GET', '/health/ready', {Connection: 'close'})).status, 200);
	program.child.kill('SIGTERM');
	t.is(await program.ended, 0);
	const faults = /"level":"(?:error|warn)"|Error/;
	// A busy machine may not hear of changes for 2.5 s while workers start.
	const allowed = /without REDIS_URL|lost the change feed/;
	const lines = program.stderr().split('\n');
	t.deepEqual(
		lines.filter((line) => faults.test(line) && !allowed.test(line)),
		[],
	);
});
