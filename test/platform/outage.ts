import test from 'ava';
import {Outage} from '../../src/platform/outage.ts';

const logged = () => {
	const lines: string[] = [];
	const note =
		(level: string) =>
		(...args: unknown[]) =>
			void lines.push(`${level}: ${args.at(-1)}`);
	return {lines, log: {info: note('info'), warn: note('warn'), error: note('error')}};
};

test('an outage is one warning and one line at its end, however often it is met', (t) => {
	const {lines, log} = logged();
	const outage = new Outage(log, {began: 'the database is unavailable', ended: 'the database is back'});
	outage.end();
	t.true(outage.begin(new Error('x')));
	t.false(outage.begin(new Error('y')));
	t.true(outage.isOpen);
	outage.end();
	outage.end();
	t.true(outage.begin());
	t.deepEqual(lines, [
		'warn: the database is unavailable',
		'info: the database is back',
		'warn: the database is unavailable',
	]);
});

test('an outage logs at the levels it was given, and fields at its end', (t) => {
	const {lines, log} = logged();
	const outage = new Outage(log, {began: 'lost', ended: 'stored', levels: {began: 'error', ended: 'warn'}});
	outage.begin();
	outage.end({lost: 3});
	t.deepEqual(lines, ['error: lost', 'warn: stored']);
});

test('a closed outage logs nothing', (t) => {
	const {lines, log} = logged();
	const outage = new Outage(log, {began: 'began', ended: 'ended'});
	outage.close();
	t.false(outage.begin());
	outage.end();
	t.deepEqual(lines, []);
});
