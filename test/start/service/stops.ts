import {once} from 'node:events';
import {type IncomingMessage, request} from 'node:http';
import {createServer as createTcpServer, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {pino} from 'pino';
import {connectionsOf, type Db} from '../../../src/platform/db/db.ts';
import {openDatabase} from '../../../src/platform/db/open-database.ts';
import {link, organization} from '../../helpers/builders.ts';
import {send} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {startService} from '../../helpers/service.ts';
import {freePort} from '../../setup/free-port.ts';
import {adminToken, listening, stage, startProcess, visitMany} from '../../visits/clicks/_process.ts';

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

test('background work that never ends is named and holds no stop up', async (t) => {
	const lines: string[] = [];
	const log = {write: (line: string) => void lines.push(line)};
	const service = await startService({SHUTDOWN_TIMEOUT: '0', LOG_LEVEL: 'warn'}, undefined, undefined, log);
	const {background} = service.services;
	background.run('wait for nobody', new Promise(() => {}));
	await service.stop();
	// The jobs of the start may still run, too.
	t.true(lines.some((line) => /"work":\[[^\]]*"wait for nobody"/.test(line)));
});

test('a connection in use holds up no close of the database', async (t) => {
	const {env} = await stage(t);
	const config = {databaseUrl: env.DATABASE_URL, databaseListenUrl: null, dataDir: env.DATA_DIR};
	const {db, close} = await openDatabase(config, pino({level: 'silent'}));
	const transaction = await db.transaction();
	await t.notThrowsAsync(close());
	connectionsOf(db).end();
	await t.throwsAsync(async () => transaction.raw('SELECT 1'));
});

/** Keeps a process alive, as a connection does that nobody closes. */
const stay = `--import=${encodeURI('data:text/javascript,setInterval(() => {}, 1e9)')}`;

for (const WORKERS of ['1', '2']) {
	test(`a stop ends the process although something keeps it alive, with WORKERS=${WORKERS}`, async (t) => {
		const {env} = await stage(t);
		const {child, ended} = await startProcess(t, {...env, WORKERS, NODE_OPTIONS: stay});
		child.kill('SIGTERM');
		t.deepEqual(await ended, [0, null]);
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
			const silent = createTcpServer();
			const DATABASE_URL = `postgres://oplink@127.0.0.1:${await listening(t, silent)}/oplink`;
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

/** Visits a server from now until that has happened, and then a hundred times more. */
const visitUntil = (url: URL, happened: Promise<unknown>) => {
	let [seen, enough] = [0, Number.POSITIVE_INFINITY];
	happened.then(() => {
		enough = seen + 100;
	});
	const continues = (answered: number) => {
		seen = answered;
		return answered < enough;
	};
	return visitMany(url, {connections: 24, keepAlive: false, continues});
};

test('a worker that starts, or takes the place of another one, gets no request before it can answer', async (t) => {
	const usual = {PORT: '0', ADMIN_TOKEN: adminToken, LOG_FORMAT: 'json', ...(await stage(t)).env};
	// A machine that is busy cuts no request off.
	const {child, ended, printed, stderr} = oplink(t, ['serve'], {...usual, WORKERS: '2', SHUTDOWN_TIMEOUT: '100'});
	const [, port] = await printed(/"url":"[^"]*:(\d+)".*"msg":"ready"/);
	const url = new URL(`http://127.0.0.1:${port}/health/live`);
	const starting = await visitUntil(url, printed(ready));
	t.deepEqual(starting.statuses, {200: starting.sent});
	const [, victim] = /"pid":(\d+),"msg":"ready"/.exec(stderr()) ?? [];
	const replacing = visitUntil(url, printed(/another one takes its place[\s\S]*"msg":"ready"/));
	process.kill(Number(victim), 'SIGKILL');
	// The dead worker's requests are lost, at most one per client, whose visits end with it.
	t.deepEqual(Object.keys((await replacing).statuses), ['200']);
	const after = await visitUntil(url, Promise.resolve());
	t.deepEqual(after.statuses, {200: after.sent});
	child.kill('SIGTERM');
	t.is(await ended, 0);
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
	const found = lines.filter((line) => faults.test(line) && !allowed.test(line));
	t.deepEqual(found, []);
});
