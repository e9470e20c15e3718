import {randomUUID} from 'node:crypto';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {Redis} from 'ioredis';
import type {Clock} from '../../../src/platform/clock.ts';
import {type Limit, limitSubjectOf, limits} from '../../../src/platform/config/limits.ts';
import type {Limiter} from '../../../src/platform/limits/limiter.ts';
import {createMemoryLimiter} from '../../../src/platform/limits/memory-limiter.ts';
import {createRedisLimiter} from '../../../src/platform/limits/redis-limiter.ts';
import {createMovedClock} from './_moved-clock.ts';

type Windows = Pick<Limiter, 'take'>;
type Setup = {name: string; start(t: ExecutionContext, clock: Clock): Windows};

const connect = (t: ExecutionContext): Redis => {
	const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
	t.teardown(() => redis.disconnect());
	return redis;
};

const setups: Setup[] = [
	{name: 'in memory', start: (_t, clock) => createMemoryLimiter({clock})},
	{name: 'in Redis', start: (t, clock) => createRedisLimiter({redis: connect(t), time: clock})},
];

const takeMany = (limiter: Windows, limit: Limit, subject: string, count: number): Promise<number[]> =>
	Promise.all(Array.from({length: count}, () => limiter.take(limit, subject)));

const admitted = (waits: number[]): number => waits.filter((wait) => wait === 0).length;

for (const {name, start} of setups) {
	// The largest of the limits, one of a usual size, and the longest.
	for (const limit of [limits.linkReads, limits.match, limits.regenerateKey]) {
		const window = limit.windowSeconds * 1000;

		test(`${name}: ${limit.name} admits exactly ${limit.max} in ${limit.windowSeconds} s, and again after it`, async (t) => {
			const clock = createMovedClock();
			const limiter = start(t, clock);
			const subject = randomUUID();
			t.is(admitted(await takeMany(limiter, limit, subject, limit.max + 20)), limit.max);
			clock.move(window - 1);
			t.deepEqual(await takeMany(limiter, limit, subject, 3), [1, 1, 1]);
			clock.move(1);
			t.is(admitted(await takeMany(limiter, limit, subject, limit.max + 20)), limit.max);
		});
	}

	for (const jump of [-86_400_000, -10]) {
		test(`${name}: a clock set back by ${-jump} ms keeps all counts and blocks nobody beyond a window`, async (t) => {
			const clock = createMovedClock();
			const limiter = start(t, clock);
			const subject = randomUUID();
			await takeMany(limiter, limits.match, subject, 10);
			clock.move(1000);
			await takeMany(limiter, limits.match, subject, 20);
			clock.move(jump);
			t.is(await limiter.take(limits.match, subject), 59);
			clock.move(58_999);
			t.is(await limiter.take(limits.match, subject), 1);
			clock.move(1);
			t.is(admitted(await takeMany(limiter, limits.match, subject, 20)), 10);
		});
	}

	test(`${name}: decides like a plain list of the admitted times, for each limit and subject`, async (t) => {
		const limitArbitrary = fc.record({max: fc.integer({min: 1, max: 12}), windowSeconds: fc.integer({min: 1, max: 3})});
		const stepArbitrary = fc.record({
			gap: fc.oneof(fc.constantFrom(0, 0, 1, 999, 1000, 1001, 2000, 3000, 9000), fc.integer({min: 0, max: 1500})),
			subject: fc.constantFrom('a', 'b'),
			repeat: fc.integer({min: 1, max: 6}),
		});
		const clock = createMovedClock();
		const limiter = start(t, clock);
		await fc.assert(
			fc.asyncProperty(limitArbitrary, fc.array(stepArbitrary, {maxLength: 50}), async (shape, steps) => {
				const limit: Limit = {name: randomUUID(), per: 'ip', ...shape};
				const window = limit.windowSeconds * 1000;
				const model = new Map<string, number[]>();
				for (const {gap, subject, repeat} of steps) {
					clock.move(gap);
					const now = clock.now().getTime();
					for (const wait of await takeMany(limiter, limit, subject, repeat)) {
						const recent = (model.get(subject) ?? []).filter((time) => time > now - window);
						const oldest = recent[0];
						const isFull = oldest !== undefined && recent.length >= limit.max;
						t.is(wait, isFull ? Math.ceil((oldest + window - now) / 1000) : 0);
						model.set(subject, isFull ? recent : [...recent, now]);
					}
				}
			}),
		);
	});
}

test('in memory: 50,000 addresses are counted separately', async (t) => {
	const clock = createMovedClock();
	const limiter = createMemoryLimiter({clock});
	const addresses = Array.from({length: 50_000}, (_, index) => `address ${index}`);
	const exhaust = async (address: string) => admitted(await takeMany(limiter, limits.regenerateKey, address, 6));
	t.true((await Promise.all(addresses.map(exhaust))).every((count) => count === 5));
	clock.move(3_599_999);
	const waits = await Promise.all(addresses.map((address) => limiter.take(limits.regenerateKey, address)));
	t.true(waits.every((wait) => wait === 1));
});

test('in memory: idle addresses are evicted', async (t) => {
	setFlagsFromString('--expose-gc');
	const collectGarbage = runInNewContext('gc') as () => void;
	const usedBytes = () => {
		collectGarbage();
		return process.memoryUsage().heapUsed;
	};
	const clock = createMovedClock();
	const limiter = createMemoryLimiter({clock});
	const visit = async (window: number) => {
		for (let index = 0; index < 50_000; index++) {
			await limiter.take(limits.resolution, `${window} ${index}`);
		}

		clock.move(1000);
	};
	await visit(0);
	await visit(1);
	const settled = usedBytes();
	for (let window = 2; window < 6; window++) {
		await visit(window);
	}

	t.true(usedBytes() < settled * 1.5, `${settled} bytes grew to ${usedBytes()}`);
	t.is(await limiter.take(limits.resolution, 'last'), 0);
});

test('in memory: a flood of addresses pushes out those that were silent longest, and no others', async (t) => {
	const limiter = createMemoryLimiter({clock: createMovedClock(), maxSubjects: 100});
	await takeMany(limiter, limits.regenerateKey, 'silent', 5);
	await takeMany(limiter, limits.regenerateKey, 'active', 5);
	for (let index = 0; index < 1000; index++) {
		await limiter.take(limits.regenerateKey, `flood ${index}`);
		t.is(await limiter.take(limits.regenerateKey, 'active'), 3600);
	}

	t.is(await limiter.take(limits.regenerateKey, 'silent'), 0);
});

test('in Redis: a full log of 1,000 is small and expires', async (t) => {
	const redis = connect(t);
	const limiter = createRedisLimiter({redis, time: 'server'});
	const limit = {...limits.linkReads, windowSeconds: 60};
	const subject = randomUUID();
	t.is(admitted(await takeMany(limiter, limit, subject, 1001)), 1000);
	const key = `oplink:limit:{linkReads:${subject}}`;
	const bytes = await redis.memory('USAGE', key, 'SAMPLES', 0);
	const expiry = await redis.pttl(key);
	t.true(Number(bytes) < 20_000);
	t.true(expiry > 60_000 - 10_000 && expiry <= 61_000);
});

test('an IPv6 caller is counted by /64, an IPv4 caller by address', (t) => {
	t.is(limitSubjectOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
	t.is(limitSubjectOf('2001:db8:1:2::1'), limitSubjectOf('2001:db8:1:2:ffff:ffff:ffff:ffff'));
	t.not(limitSubjectOf('2001:db8:1:2::1'), limitSubjectOf('2001:db8:1:3::1'));
	t.is(limitSubjectOf('203.0.113.9'), '203.0.113.9');
	t.is(limitSubjectOf('::ffff:203.0.113.9'), '203.0.113.9');
});
