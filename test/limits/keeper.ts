import {randomUUID} from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import {createFreeAdmissions, createKeeper} from '../../src/limits/keeper.ts';
import {type Limit, limits} from '../../src/limits/limits.ts';
import {createMemoryLimiter} from '../../src/limits/memory-limiter.ts';
import {createOwnLimiter} from '../../src/limits/windows.ts';
import {createFakeClock} from '../helpers/service.ts';
import {redisOfOwn} from '../helpers/workers.ts';

/** Processes of one machine that answer each other a turn later, and the keeper of their windows. */
const machine = (processes: number) => {
	const clock = createFakeClock();
	const keeper = createKeeper({windows: createMemoryLimiter({clock}), clock, processes});
	const join = () => {
		const free = createFreeAdmissions({clock, processes});
		const member = {close: async (limit: Limit, subject: string) => free.close(limit, subject)};
		keeper.join(member);
		free.open();
		return {
			free,
			member,
			take: async (limit: Limit, subject: string) => (free.take(limit, subject) ? 0 : keeper.take(limit, subject)),
		};
	};
	return {clock, keeper, join};
};

test('whatever processes are asked and whichever is replaced, no window has more than the limit', async (t) => {
	const limit: Limit = {name: 'hot', max: 12, windowSeconds: 1, per: 'ip', free: 3};
	const step = fc.record({
		gap: fc.oneof(fc.constantFrom(0, 0, 1, 999, 1000, 1001, 3000, 4000, 9000), fc.integer({min: 0, max: 1500})),
		asked: fc.array(fc.integer({min: 0, max: 2}), {minLength: 1, maxLength: 12}),
		isReplaced: fc.integer({min: 0, max: 9}).map((number) => number === 0),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, {maxLength: 40}), async (steps) => {
			const {clock, keeper, join} = machine(3);
			const members = [join(), join(), join()];
			const subject = randomUUID();
			const admitted: number[] = [];
			let leftAt = Number.NEGATIVE_INFINITY;
			for (const {gap, asked, isReplaced} of steps) {
				clock.advance(gap / 1000);
				const now = clock.now().getTime();
				if (isReplaced) {
					const [gone] = members.splice(0, 1, join());
					keeper.leave(gone?.member ?? {close: () => 0});
					leftAt = now;
				}

				const waits = await Promise.all(asked.map((member) => members[member]?.take(limit, subject)));
				admitted.push(...waits.filter((wait) => wait === 0).map(() => now));
				const since = (milliseconds: number) => admitted.filter((at) => at > now - milliseconds).length;
				t.true(since(1000) <= limit.max, `${since(1000)}`);
				// What was admitted without asking counts from when it is reported, and a process that has gone may have
				// admitted what nobody knows of; else nobody is refused below the limit.
				if (waits.some((wait) => wait !== 0) && now - leftAt >= 2000) {
					t.true(since(2000) >= limit.max, `${since(2000)}`);
				}
			}
		}),
	);
});

test('occasional requests are admitted locally, those of a busy caller are not', async (t) => {
	const {clock, join} = machine(2);
	const {free, take} = join();
	t.false(free.take(limits.resolution, 'visitor'), 'a process that has just started asks');
	clock.advance(2);
	for (let page = 0; page < limits.resolution.free; page += 1) {
		t.true(free.take(limits.resolution, 'visitor'));
	}

	t.is(await take(limits.resolution, 'visitor'), 0);
	clock.advance(3);
	t.false(free.take(limits.resolution, 'visitor'));
	clock.advance(1);
	t.true(free.take(limits.resolution, 'visitor'));
});

/** Two machines of a process each, on a Redis where nobody else is, which know each other. */
const twoMachines = async (number: number) => {
	const clock = createFakeClock();
	let outages = 0;
	const note = () => {
		outages += 1;
	};
	const log = {warn: note, info: note};
	const open = () => createOwnLimiter({redisUrl: redisOfOwn(number), clock, log, time: clock});
	const machines = [open(), open()] as const;
	const known = (machine: (typeof machines)[number]): Promise<unknown> =>
		machine.ping().catch(() => new Promise(setImmediate).then(() => known(machine)));
	for (const machine of [...machines, ...machines]) {
		await known(machine);
	}

	clock.advance(2);
	/** What `work` gives without an outage: on a busy machine an answer of Redis may come too late, and memory decides. */
	const undisturbed = async <T>(work: (subject: string) => Promise<T>): Promise<T> => {
		const before = outages;
		const result = await work(randomUUID());
		await Promise.all(machines.map(known));
		return before === outages ? result : undisturbed(work);
	};
	return {clock, machines, undisturbed, close: () => Promise.all(machines.map((machine) => machine.close()))};
};

const admittedOf = async (waits: Array<Promise<number> | number>): Promise<number> =>
	(await Promise.all(waits)).filter((wait) => wait === 0).length;

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

test('a machine that is asked alone leaves the share that another may admit locally', async (t) => {
	const {machines, undisturbed, close} = await twoMachines(3);
	const admitted = await undisturbed(async (visitor) => {
		const ask = (machine: (typeof machines)[number], count: number) =>
			admittedOf(Array.from({length: count}, () => machine.take(resolution, visitor)));
		return [await ask(machines[0], 600), await ask(machines[1], 600), await ask(machines[0], 10)];
	});
	t.deepEqual(admitted, [resolution.max - resolution.free, resolution.free, 0]);
	await close();
});
