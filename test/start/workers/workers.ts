import {stat} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin, send} from '../../helpers/callers.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {startWorkers} from '../../helpers/workers.ts';

const startTwo = async (t: ExecutionContext) => {
	const workers = await startWorkers();
	t.teardown(workers.stop);
	/** A series as whichever worker takes the connection reports it, once both have answered in time on a busy machine. */
	const scraped = async (series: string): Promise<number> => {
		const {text} = await send(workers.url, 'GET', '/metrics', {Connection: 'close'});
		if (!/^oplink_workers_answered 2$/m.test(text)) {
			return scraped(series);
		}

		return Number(
			text
				.split('\n')
				.find((line) => line.startsWith(`${series} `))
				?.slice(series.length + 1),
		);
	};
	return {...workers, scraped};
};

const isAlive = (pid: number): boolean => {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
};

test('two workers share the port, serve no stale link, and each reports the figures of both', async (t) => {
	const {url, workers, scraped, service, stderr} = await startTwo(t);
	t.is(new Set(workers()).size, 2);
	const acme = await organization(service);
	const made = await admin(service).post(`/admin/organizations/${acme.id}/links`, {path: '/0'});
	t.is(made.status, 201);
	const {pathname} = new URL(made.body.url);
	for (let number = 1; number <= 40; number += 1) {
		const patched = await admin(service).patch(`/admin/organizations/${acme.id}/links/${made.body.id}`, {
			path: `/${number}`,
		});
		t.is(patched.status, 200);
		// Connections of their own, which the processes take in turn.
		const seen = await Promise.all([1, 2, 3, 4].map(() => send(url, 'GET', `${pathname}/data`, {Connection: 'close'})));
		t.deepEqual(
			seen.map(({status, body}) => ({status, path: body.path})),
			seen.map(() => ({status: 200, path: `/${number}`})),
		);
	}

	// Scrapes that come together are taken by both.
	const data = await Promise.all([1, 2, 3, 4].map(() => scraped('oplink_resolutions_total{outcome="data"}')));
	t.deepEqual(data, [160, 160, 160, 160]);
	t.is(await scraped('oplink_workers'), 2);
	t.notRegex(stderr(), /Warning/);
});

test('a worker that ends is replaced while the other answers, its counters remain, and a stop ends all', async (t) => {
	const {url, workers, scraped, printed, child, ended} = await startTwo(t);
	const [victim = 0, orderly = 0] = workers();
	const live = 'oplink_http_requests_total{method="GET",route="/health/live",status="2xx"}';
	await Promise.all([1, 2, 3, 4].map(() => send(url, 'GET', '/health/live', {Connection: 'close'})));
	t.is(await scraped(live), 4);
	process.kill(victim, 'SIGKILL');
	await printed(new RegExp(`"worker":${victim},.*"signal":"SIGKILL".*another one takes its place`));
	t.is((await send(url, 'GET', '/health/live', {Connection: 'close'})).status, 200);
	await printed(/another one takes its place[\s\S]*"msg":"ready"/);
	t.is(workers().length, 3);
	t.is(await scraped(live), 5);
	await Promise.all([1, 2, 3, 4].map(() => send(url, 'GET', '/health/live', {Connection: 'close'})));
	// Not asked since.
	process.kill(orderly, 'SIGTERM');
	await printed(/(another one takes its place[\s\S]*"msg":"ready"[\s\S]*){2}/);
	t.is(await scraped(live), 9);
	t.is((await send(url, 'GET', '/health/ready', {Connection: 'close'})).status, 200);
	child.kill('SIGTERM');
	t.is(await ended, 0);
	t.deepEqual(workers().filter(isAlive), []);
});

test('the CLI finds a server of two workers by its DATA_DIR, on any PORT', async (t) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const env = {DATA_DIR: await dataDirectory(t), DATABASE_URL: database.url};
	const {child, ended, printed} = oplink(t, ['serve'], {...env, PORT: '0', WORKERS: '2'});
	await printed(ready);
	const found = oplink(t, ['status', '--json'], {DATA_DIR: env.DATA_DIR});
	t.is(await found.ended, 0);
	t.is(JSON.parse(found.stdout()).status, 'ok');
	child.kill('SIGTERM');
	t.is(await ended, 0);
	await t.throwsAsync(stat(path.join(env.DATA_DIR, 'address')), {code: 'ENOENT'});
});

test('a connection on its way to a worker that is killed is answered by another one', async (t) => {
	const {url, workers} = await startTwo(t);
	const [stopped = 0] = workers();
	process.kill(stopped, 'SIGSTOP');
	// One of them is given to the worker that does not take it.
	const asked = [1, 2, 3, 4].map(() => send(url, 'GET', '/health/live', {Connection: 'close'}));
	await Promise.any(asked);
	process.kill(stopped, 'SIGKILL');
	t.deepEqual(
		(await Promise.all(asked)).map(({status}) => status),
		[200, 200, 200, 200],
	);
});

test('an error that prevents a worker from starting ends the start, and is reported once', async (t) => {
	const {url, child, ended} = await startTwo(t);
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const second = oplink(t, ['serve'], {
		PORT: new URL(url).port,
		WORKERS: '2',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
	});
	t.is(await second.ended, 1);
	t.is([...second.stderr().matchAll(/^Error: .*/gm)].length, 1);
	t.regex(second.stderr(), /^Error: Port \d+ is in use by another program$/m);
	child.kill('SIGTERM');
	t.is(await ended, 0);
});
