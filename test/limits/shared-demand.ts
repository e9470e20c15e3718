import test from 'ava';
import {limits} from '../../src/limits/limits.ts';
import {createMemoryLimiter} from '../../src/limits/memory-limiter.ts';
import {createSharedDemand, type Exchange} from '../../src/limits/shared-demand.ts';
import {createFakeClock} from '../helpers/service.ts';

const {resolution} = limits;

/** Limiters of so many processes, whose messages arrive when they are sent, and a clock that all of them have. */
const processes = (count: number) => {
	const clock = createFakeClock();
	const listeners: Array<(message: string) => void> = [];
	let isCut = false;
	const exchange: Exchange = {
		say: (message) => {
			for (const listener of isCut ? [] : listeners) {
				listener(message);
			}
		},
		onMessage: (listener) => listeners.push(listener),
		close: async () => {},
	};
	const members = Array.from({length: count}, () => {
		const sharing = createSharedDemand({exchange, clock});
		return {sharing, limiter: createMemoryLimiter({clock, sharing})};
	});
	return {
		clock,
		members,
		cut: () => {
			isCut = true;
		},
	};
};

/**
 * Asks at steady rates for some seconds and tells every 50 ms, as the timer does.
 * @returns the times (ms) of what was admitted, and how many were refused.
 */
const ask = ({clock, members}: ReturnType<typeof processes>, rates: number[], seconds: number) => {
	const admitted: number[] = [];
	let refused = 0;
	const owed = rates.map(() => 0);
	for (let millisecond = 0; millisecond < seconds * 1000; millisecond += 1) {
		rates.forEach((rate, index) => {
			for (
				owed[index] = (owed[index] ?? 0) + rate / 1000;
				(owed[index] ?? 0) >= 1;
				owed[index] = (owed[index] ?? 0) - 1
			) {
				if (members[index]?.limiter.take(resolution, '192.0.2.1') === 0) {
					admitted.push(millisecond);
				} else {
					refused += 1;
				}
			}
		});
		if (millisecond % 50 === 0) {
			for (const {sharing} of members) {
				sharing.tell();
			}
		}

		clock.advance(0.001);
	}

	return {admitted, refused};
};

/** The most and the least that any second has after the first two, in which the processes get to know each other. */
const bounds = (admitted: number[], seconds: number) => {
	const counts: number[] = [];
	for (let from = 2000; from + 1000 <= seconds * 1000; from += 10) {
		counts.push(admitted.filter((at) => at >= from && at < from + 1000).length);
	}

	return {most: Math.max(...counts), least: Math.min(...counts)};
};

for (const rates of [
	[400, 400],
	[900, 100],
	[2000, 40],
	[300, 300, 300],
]) {
	test(`${rates.length} processes that are asked ${rates.join(' and ')} a second admit the limit together, within 2 %`, (t) => {
		const {admitted} = ask(processes(rates.length), rates, 6);
		const {most, least} = bounds(admitted, 6);
		t.true(most <= resolution.max * 1.02, String(most));
		t.true(least >= resolution.max * 0.98, String(least));
	});
}

test('who asks less than the limit in all is refused nowhere', (t) => {
	const {refused} = ask(processes(2), [350, 130], 6);
	t.is(refused, 0);
});

test('where nobody hears of the others each goes on with the limit', (t) => {
	const group = processes(2);
	ask(group, [400, 400], 3);
	group.cut();
	const {admitted} = ask(group, [600, 600], 5);
	t.deepEqual(bounds(admitted, 5), {most: 2 * resolution.max, least: 2 * resolution.max});
});

test('a process that has gone leaves its share', (t) => {
	const group = processes(2);
	ask(group, [400, 400], 3);
	const {admitted} = ask(group, [600], 5);
	t.deepEqual(bounds(admitted, 5), {most: resolution.max, least: resolution.max});
});
