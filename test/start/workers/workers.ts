import {mkdtempSync} from 'node:fs';
import {rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {send} from '../../helpers/callers.ts';
import {databaseOf} from '../../helpers/database.ts';
import {dataDirectory, oplink} from '../../helpers/process.ts';
import {startedFor} from '../../helpers/started.ts';
import {startWorkers} from '../../helpers/workers.ts';

const DATA_DIR = mkdtempSync(path.join(tmpdir(), 'oplink-workers-'));
/** One program for all tests, which follow each other. */
const program = startedFor(test, () => startWorkers({DATA_DIR}));
test.after.always(() => rm(DATA_DIR, {recursive: true, force: true}));

/** Connections of their own, which the workers take in turn. */
const ask = (path: string) => send(program.url, 'GET', path, {Connection: 'close'});
const askFour = (path: string) => Promise.all([1, 2, 3, 4].map(() => ask(path)));

/** A series as whichever worker takes the connection reports it, once both have answered in time on a busy machine. */
const scraped = async (series: string): Promise<number> => {
	const {text} = await ask('/metrics');
	const line = text.split('\n').find((one) => one.startsWith(`${series} `));
	return /^oplink_workers_answered 2$/m.test(text) ? Number(line?.slice(series.length + 1)) : scraped(series);
};

/** Waits until so many workers have taken the place of another one. */
const replaced = (count: number) =>
	program.printed(new RegExp(`(another one takes its place[\\s\\S]*"msg":"ready"[\\s\\S]*){${count}}`));

const isAlive = (pid: number): boolean => {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
};

test.serial('two workers share the port, serve no stale link, and each reports the figures of both', async (t) => {
	const {workers, service, stderr} = program;
	t.is(new Set(workers()).size, 2);
	const acme = await organization(service);
	const made = await acme.operator.post('/links', {path: '/0'});
	t.is(made.status, 201);
	const {pathname} = new URL(made.body.url);
	for (let number = 1; number <= 40; number += 1) {
		const path = `/${number}`;
		t.is((await acme.operator.patch(`/links/${made.body.id}`, {path})).status, 200);
		for (const seen of await askFour(`${pathname}/data`)) {
			t.like(seen, {status: 200, body: {path}});
		}
	}

	// Scrapes that come together are taken by both.
	const data = await Promise.all([1, 2, 3, 4].map(() => scraped('oplink_resolutions_total{outcome="data"}')));
	t.deepEqual(data, [160, 160, 160, 160]);
	t.is(await scraped('oplink_workers'), 2);
	t.notRegex(stderr(), /Warning/);
});

test.serial('the CLI finds a server of two workers by its DATA_DIR, on any PORT', async (t) => {
	const found = oplink(t, ['status', '--json'], {DATA_DIR});
	t.is(await found.ended, 0);
	t.is(JSON.parse(found.stdout()).status, 'ok');
});

test.serial('an error that prevents a worker from starting ends the start, and is reported once', async (t) => {
	const database = await databaseOf(t);
	const env = {DATA_DIR: await dataDirectory(t), DATABASE_URL: database.url, WORKERS: '2'};
	const second = oplink(t, ['serve'], {...env, PORT: new URL(program.url).port});
	t.is(await second.ended, 1);
	t.is([...second.stderr().matchAll(/^Error: .*/gm)].length, 1);
	t.regex(second.stderr(), /^Error: Port \d+ is in use by another program$/m);
});

test.serial('a worker that ends is replaced while the other answers, and its counters remain', async (t) => {
	const {workers, printed} = program;
	const [victim = 0, orderly = 0] = workers();
	const live = 'oplink_http_requests_total{method="GET",route="/health/live",status="2xx"}';
	await askFour('/health/live');
	t.is(await scraped(live), 4);
	process.kill(victim, 'SIGKILL');
	await printed(new RegExp(`"worker":${victim},.*"signal":"SIGKILL".*another one takes its place`));
	t.is((await ask('/health/live')).status, 200);
	await replaced(1);
	t.is(workers().length, 3);
	t.is(await scraped(live), 5);
	await askFour('/health/live');
	// Not asked since.
	process.kill(orderly, 'SIGTERM');
	await replaced(2);
	t.is(await scraped(live), 9);
	t.is((await ask('/health/ready')).status, 200);
});

test.serial('a connection on its way to a worker that is killed is answered by another one', async (t) => {
	const stopped = program.workers().find(isAlive) ?? t.fail();
	process.kill(stopped, 'SIGSTOP');
	// One of them is given to the worker that does not take it.
	const asked = [1, 2, 3, 4].map(() => ask('/health/live'));
	await Promise.any(asked);
	process.kill(stopped, 'SIGKILL');
	const statuses = (await Promise.all(asked)).map(({status}) => status);
	t.deepEqual(statuses, [200, 200, 200, 200]);
});

test.serial('a stop ends all workers, and leaves no address behind', async (t) => {
	await replaced(3);
	program.child.kill('SIGTERM');
	t.is(await program.ended, 0);
	t.deepEqual(program.workers().filter(isAlive), []);
	await t.throwsAsync(stat(path.join(DATA_DIR, 'address')), {code: 'ENOENT'});
});
