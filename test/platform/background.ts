import test from 'ava';
import {pino} from 'pino';
import {createBackground} from '../../src/platform/background.ts';

test('settling waits for work that begins while other work ends', async (t) => {
	const background = createBackground(pino({level: 'silent'}));
	let endFirst = (): void => {};
	let endSecond = (): void => {};
	const first = new Promise<void>((resolve) => {
		endFirst = resolve;
	});
	const second = new Promise<void>((resolve) => {
		endSecond = resolve;
	});
	background.run('do the first part', first);
	let isSettled = false;
	const settled = background.settle().then(() => {
		isSettled = true;
	});
	background.run('do the second part', second);
	endFirst();
	await new Promise(setImmediate);
	t.false(isSettled);
	endSecond();
	await settled;
	t.true(isSettled);
});
