import {randomUUID} from 'node:crypto';
import {mock} from 'node:test';
import {setImmediate as turn} from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import {Redis} from 'ioredis';
import {type Limit, limits} from '../../../src/platform/config/limits.ts';
import {createMemoryLimiter} from '../../../src/platform/limits/memory-limiter.ts';
import {createRedisLimiter} from '../../../src/platform/limits/redis-limiter.ts';
import {createWorkerLimiter, decideForWorker, type LimitChecks} from '../../../src/platform/limits/worker-limiter.ts';
import {createRedisServer} from '../../helpers/redis-server.ts';
import {createMovedClock} from './_moved-clock.ts';

const admittedOf = async (waits: Array<Promise<number> | number>): Promise<number> =>
	(await Promise.all(waits)).filter((wait) => wait === 0).length;

/** Workers whose messages reach their supervisor a turn later, and what they sent. */
const workersOf = (count: number) => {
	const clock = createMovedClock();
	const windows = createMemoryLimiter({clock});
	const sent: LimitChecks[] = [];
	const supervisor = {hangs: false};
	const start = () => {
		const worker = createWorkerLimiter(clock, async (message) => {
			sent.push(message);
			if (!supervisor.hangs) {
				await turn();
				worker.receive(await decideForWorker(windows, message));
			}
		});
		return worker;
	};
	return {clock, sent, supervisor, workers: Array.from({length: count}, start)};
};

test('whichever workers are asked, every window has exactly the limit', async (t) => {
	const limit: Limit = {name: 'busy', max: 12, windowSeconds: 1, per: 'ip'};
	const step = fc.record({
		gap: fc.oneof(fc.constantFrom(0, 0, 1, 999, 1000, 1001, 3000), fc.integer({min: 0, max: 1500})),
		asked: fc.array(fc.integer({min: 0, max: 2}), {minLength: 1, maxLength: 20}),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, {maxLength: 40}), async (steps) => {
			const {clock, workers} = workersOf(3);
			const subject = randomUUID();
			const times: number[] = [];
			for (const {gap, asked} of steps) {
				clock.move(gap);
				const now = clock.now().getTime();
				const free = limit.max - times.filter((at) => at > now - 1000).length;
				const admitted = await admittedOf(asked.map((index) => workers[index]?.take(limit, subject) ?? 1));
				t.is(admitted, Math.min(free, asked.length));
				times.push(...Array.from({length: admitted}, () => now));
			}
		}),
	);
});

test("a worker's checks of one turn of the event loop are one message", async (t) => {
	const {workers, sent} = workersOf(2);
	await Promise.all(workers.flatMap((worker) => [1, 2, 3].map((caller) => worker.take(limits.match, `${caller}`))));
	const found = sent.map(({checks}) => checks.length);
	t.deepEqual(found, [3, 3]);
});

test.serial('a worker whose supervisor hangs decides by itself until it answers again', async (t) => {
	const {workers, sent, supervisor} = workersOf(1);
	const [worker = t.fail()] = workers;
	const {max} = limits.regenerateKey;
	t.is(await admittedOf([worker.take(limits.regenerateKey, 'caller')]), 1);
	supervisor.hangs = true;
	mock.timers.enable({apis: ['setTimeout']});
	const first = worker.take(limits.regenerateKey, 'caller');
	await turn();
	mock.timers.tick(2000);
	mock.timers.reset();
	t.is(await first, 0);
	t.is(await admittedOf(Array.from({length: 10}, () => worker.take(limits.regenerateKey, 'caller'))), max - 1);
	t.is(sent.length, 2, 'it sends nothing meanwhile');

	supervisor.hangs = false;
	const [, unanswered = t.fail()] = sent;
	worker.receive({...unanswered, waits: [0]});
	t.is(await admittedOf(Array.from({length: 10}, () => worker.take(limits.regenerateKey, 'caller'))), max - 1);
	t.is(sent.length, 3);
});

test("a machine's checks of one turn of the event loop are one call of Redis", async (t) => {
	const server = await createRedisServer(t);
	await server.start();
	const redis = new Redis({port: server.port, host: '127.0.0.1'});
	t.teardown(() => redis.disconnect());
	const {take} = createRedisLimiter({redis, time: 'server'});
	// Teaches the server the script.
	await take(limits.match, randomUUID());
	await redis.config('RESETSTAT');
	const caller = randomUUID();
	const waits = Array.from({length: 40}, (_, index) => take(limits.match, index < 35 ? caller : `${index}`));
	t.is(await admittedOf(waits), limits.match.max + 5);
	t.regex(await redis.info('commandstats'), /cmdstat_evalsha:calls=1,/);
});
