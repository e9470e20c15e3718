import test from 'ava';
import {Loop, type Schedule} from '../../src/platform/loop.ts';

/** A schedule that the test runs by hand. */
const byHand = () => {
	const waiting: Array<{call: () => void; milliseconds: number}> = [];
	const schedule: Schedule = (call, milliseconds) => {
		const one = {call, milliseconds};
		waiting.push(one);
		return () => {
			waiting.splice(waiting.indexOf(one), 1);
		};
	};
	return {schedule, waiting, pauses: () => waiting.map(({milliseconds}) => Math.round(milliseconds))};
};

const untilReleased = () => {
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	return {release, released};
};

test('a turn is scheduled after the pause that the previous one returned, and none after null', async (t) => {
	const {schedule, pauses} = byHand();
	const answers = [250, null];
	const loop = new Loop(async () => answers.shift() ?? null, schedule);
	await loop.run();
	t.deepEqual(pauses(), [250]);
	await loop.run();
	t.deepEqual(pauses(), []);
});

test('a wake is the sooner of two, and the timer of the later one is cancelled', (t) => {
	const {schedule, pauses} = byHand();
	const loop = new Loop(async () => null, schedule);
	loop.wake(1000);
	loop.wake(5000);
	loop.wake(10);
	t.deepEqual(pauses(), [10]);
});

test('turns never overlap: a wake during a turn runs another one after it', async (t) => {
	const {schedule, waiting, pauses} = byHand();
	const {release, released} = untilReleased();
	let turns = 0;
	const loop = new Loop(async () => {
		turns += 1;
		await released;
		return null;
	}, schedule);
	loop.wake();
	waiting[0]?.call();
	const joined = loop.run();
	loop.wake();
	loop.wake();
	release();
	await joined;
	t.is(turns, 1);
	t.deepEqual(pauses(), [0]);
});

test('a stop waits for the running turn, and nothing runs afterwards', async (t) => {
	const {schedule, pauses} = byHand();
	const {release, released} = untilReleased();
	const loop = new Loop(async () => {
		await released;
		return 10;
	}, schedule);
	const turn = loop.run();
	const stopped = loop.stop();
	release();
	await Promise.all([turn, stopped]);
	loop.wake();
	t.deepEqual(pauses(), []);
});
