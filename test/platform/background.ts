import {EventEmitter, once} from 'node:events';
import test from 'ava';
import {pino} from 'pino';
import {createBackground} from '../../src/platform/background.ts';

test('settling waits for work that begins while other work ends', async (t) => {
	const background = createBackground(pino({level: 'silent'}));
	const ends = new EventEmitter();
	background.run('do the first part', once(ends, 'first'));
	let isSettled = false;
	const settled = background.settle().then(() => {
		isSettled = true;
	});
	background.run('do the second part', once(ends, 'second'));
	ends.emit('first');
	await new Promise(setImmediate);
	t.false(isSettled);
	ends.emit('second');
	await settled;
	t.true(isSettled);
});

test('what runs is named until it ends, twice or failed', async (t) => {
	const background = createBackground(pino({level: 'silent'}));
	const ends = new EventEmitter();
	background.run('send', once(ends, 'sent'));
	background.run('send', once(ends, 'sent'));
	background.run('fail', Promise.reject(new Error('no')));
	t.deepEqual(background.running(), ['send', 'fail']);
	ends.emit('sent');
	await background.settle();
	t.deepEqual(background.running(), []);
});
