import test from 'ava';
import {Redis} from 'ioredis';
import {limits} from '../../src/limits/limits.ts';
import {burst} from '../helpers/burst.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {createRedisServer} from '../helpers/redis-server.ts';
import {startWorkers, type Workers} from '../helpers/workers.ts';

const {max} = limits.match;

/** A burst of matches of one address, over both workers. */
const matches = async ({url}: Workers, address: string, count = 2 * max) => {
	const {statuses} = await burst(url, count, {
		method: 'POST',
		path: '/match',
		headers: {'X-Forwarded-For': address},
		body: {},
	});
	return statuses.filter((status) => status === 200).length;
};

const newAddress = ({service}: Workers): string => anonymous(service).address;

test('a worker that is replaced takes no window along, and waits agree between workers', async (t) => {
	const workers = await startWorkers();
	t.teardown(workers.stop);
	const caller = anonymous(workers.service);
	t.is(await matches(workers, caller.address), max);
	const [victim = 0] = workers.workers();
	process.kill(victim, 'SIGKILL');
	await workers.printed(/another one takes its place[\s\S]*"msg":"ready"/);
	t.is(await matches(workers, caller.address), 0);
	const began = performance.now();
	const waits = await Promise.all(
		Array.from({length: 12}, async () => {
			const {body} = await caller.post('/match', {}, {Connection: 'close'});
			return Number(/(\d+) second/.exec(body.message)?.[1]);
		}),
	);
	const lasted = Math.ceil((performance.now() - began) / 1000);
	t.true(Math.max(...waits) - Math.min(...waits) <= lasted, String(waits));
});

test('a hanging supervisor delays no request', async (t) => {
	const workers = await startWorkers();
	t.teardown(async () => {
		workers.child.kill('SIGCONT');
		await workers.stop();
	});
	const caller = anonymous(workers.service);
	// The supervisor hands connections out, so this one is kept.
	t.is((await caller.post('/match', {})).status, 200);
	workers.child.kill('SIGSTOP');
	t.is((await caller.post('/match', {})).status, 200);
});

for (const {name, fail, mend} of [
	{
		name: 'full',
		fail: (redis: Redis) => redis.config('SET', 'maxmemory', '1'),
		mend: (redis: Redis) => redis.config('SET', 'maxmemory', '0'),
	},
	{
		name: 'read-only',
		fail: (redis: Redis) => redis.replicaof('127.0.0.1', 1),
		mend: (redis: Redis) => redis.replicaof('NO', 'ONE'),
	},
]) {
	test(`two workers on a Redis that is ${name}: limits hold across them, and readiness and doctor name it`, async (t) => {
		const server = await createRedisServer(t);
		await server.start();
		const workers = await startWorkers({REDIS_URL: `redis://127.0.0.1:${server.port}`});
		t.teardown(workers.stop);
		const {service} = workers;
		const untilRedisIs = async (state: 'ok' | 'unavailable'): Promise<void> => {
			const {status, body} = await anonymous(service).get('/health/ready');
			t.is(status, 200);
			return body.checks.redis === state ? undefined : untilRedisIs(state);
		};
		const redis = new Redis({port: server.port, host: '127.0.0.1'});
		t.teardown(() => redis.disconnect());

		await untilRedisIs('ok');

		await fail(redis);
		await untilRedisIs('unavailable');
		const during = newAddress(workers);
		t.is(await matches(workers, during), max);
		t.is(await matches(workers, during), 0);
		const {body} = await admin(service).get('/admin/doctor');
		const finding = body.findings.find(({check}: {check: string}) => check === 'redis.reachable');
		t.is(finding?.status, 'fail');

		await mend(redis);
		await untilRedisIs('ok');
	});
}

test('two workers without the Redis that is configured: limits hold across them', async (t) => {
	const workers = await startWorkers({REDIS_URL: 'redis://127.0.0.1:1'});
	t.teardown(workers.stop);
	t.is(await matches(workers, newAddress(workers)), max);
	const {status, body} = await anonymous(workers.service).get('/health/ready');
	t.deepEqual([status, body.checks.redis], [200, 'unavailable']);
	t.is([...workers.stderr().matchAll(/Redis is unavailable; enforcing/g)].length, 1);
});
