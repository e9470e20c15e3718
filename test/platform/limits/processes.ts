import {randomUUID} from 'node:crypto';
import {mock} from 'node:test';
import {setImmediate as turn} from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import {Redis} from 'ioredis';
import {type Limit, limits} from '../../../src/platform/limits/limits.ts';
import {createMemoryLimiter} from '../../../src/platform/limits/memory-limiter.ts';
import {createRedisLimiter} from '../../../src/platform/limits/redis-limiter.ts';
import {createWindows} from '../../../src/platform/limits/windows.ts';
import {createWorkerLimiter, decideForWorker, type LimitChecks} from '../../../src/platform/limits/worker-limiter.ts';
import {createRedisServer} from '../../helpers/redis-server.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {redisOfOwn} from '../../helpers/workers.ts';

const admittedOf = async (waits: Array<Promise<number> | number>): Promise<number> =>
	(await Promise.all(waits)).filter((wait) => wait === 0).length;

/** Workers whose messages reach their supervisor a turn later, and what they sent. */
const workersOf = (count: number) => {
	const clock = createFakeClock();
	const windows = createMemoryLimiter({clock});
	const sent: LimitChecks[] = [];
	let isHanging = false;
	const start = () => {
		const worker = createWorkerLimiter(clock, async (message) => {
			sent.push(message);
			if (!isHanging) {
				await turn();
				worker.receive(await decideForWorker(windows, message));
			}
		});
		return worker;
	};
	return {
		clock,
		sent,
		workers: Array.from({length: count}, start),
		hang: (hangs: boolean) => {
			isHanging = hangs;
		},
	};
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
				clock.advance(gap / 1000);
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
	t.deepEqual(
		sent.map(({checks}) => checks.length),
		[3, 3],
	);
});

test.serial('a worker whose supervisor hangs decides by itself until it answers again', async (t) => {
	const {workers, sent, hang} = workersOf(1);
	const [worker = t.fail()] = workers;
	const {max} = limits.regenerateKey;
	t.is(await admittedOf([worker.take(limits.regenerateKey, 'caller')]), 1);
	hang(true);
	mock.timers.enable({apis: ['setTimeout']});
	const first = worker.take(limits.regenerateKey, 'caller');
	await turn();
	mock.timers.tick(2000);
	mock.timers.reset();
	t.is(await first, 0);
	t.is(await admittedOf(Array.from({length: 10}, () => worker.take(limits.regenerateKey, 'caller'))), max - 1);
	t.is(sent.length, 2, 'it sends nothing meanwhile');

	hang(false);
	const [, unanswered = t.fail()] = sent;
	worker.receive({...unanswered, waits: [0]});
	t.is(await admittedOf(Array.from({length: 10}, () => worker.take(limits.regenerateKey, 'caller'))), max - 1);
	t.is(sent.length, 3);
});

/** Two machines on a Redis where nobody else is. */
const twoMachines = async (number: number) => {
	const clock = createFakeClock();
	let outages = 0;
	const note = () => {
		outages += 1;
	};
	const log = {warn: note, info: note};
	const open = () => createWindows({redisUrl: redisOfOwn(number), clock, log, time: clock});
	const machines = [open(), open()] as const;
	const decides = (machine: (typeof machines)[number]): Promise<unknown> =>
		machine.ping().catch(() => turn().then(() => decides(machine)));
	await Promise.all(machines.map(decides));
	/** What `work` gives without an outage: on a busy machine an answer of Redis may come too late, and memory decides. */
	const undisturbed = async <T>(work: (subject: string) => Promise<T>): Promise<T> => {
		const before = outages;
		const result = await work(randomUUID());
		await Promise.all(machines.map(decides));
		return before === outages ? result : undisturbed(work);
	};
	return {clock, machines, undisturbed, close: () => Promise.all(machines.map((machine) => machine.close()))};
};

const {resolution} = limits;

test('two machines that are asked at once admit the limit together', async (t) => {
	const {machines, clock, undisturbed, close} = await twoMachines(2);
	for (let window = 0; window < 4; window += 1) {
		const admitted = await undisturbed((subject) =>
			admittedOf(Array.from({length: 800}, (_, index) => machines[index % 2 === 0 ? 0 : 1].take(resolution, subject))),
		);
		t.is(admitted, resolution.max);
		clock.advance(1);
	}

	await close();
});

test('a machine that is asked alone admits the whole limit, and another one nothing more', async (t) => {
	const {machines, undisturbed, close} = await twoMachines(3);
	const admitted = await undisturbed(async (visitor) => {
		const ask = (machine: (typeof machines)[number], count: number) =>
			admittedOf(Array.from({length: count}, () => machine.take(resolution, visitor)));
		return [await ask(machines[0], 600), await ask(machines[1], 600), await ask(machines[0], 10)];
	});
	t.deepEqual(admitted, [resolution.max, 0, 0]);
	await close();
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
