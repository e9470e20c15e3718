import test from 'ava';
import stringWidth from 'string-width';
import {durationText} from '../../src/cli/terminal/duration.ts';
import {cellText, ID_WIDTH, keyValues, table, wrapped} from '../../src/cli/terminal/output.ts';
import {styled, terminalText} from '../../src/cli/terminal/printable.ts';

type Row = {id: string; name: string; count: number};
const columns = [
	{title: 'ID', value: ({id}: Row) => id},
	{title: 'NAME', value: ({name}: Row) => name, flexible: true},
	{title: 'N', value: ({count}: Row) => count, align: 'right' as const},
];

test('columns are aligned by display width, not by characters', (t) => {
	const rows = [
		{id: 'a', name: '漢字', count: 7},
		{id: 'b', name: 'é🙂', count: 1200},
	];
	t.deepEqual(table(columns, rows, {width: 80}).split('\n'), ['ID  NAME     N', 'a   漢字     7', 'b   é🙂   1200']);
});

test('only flexible columns give way, by whole characters, and the table fits', (t) => {
	const family = '👩‍👩‍👧‍👧';
	const text = table(columns, [{id: 'x'.repeat(36), name: family.repeat(30), count: 1}], {width: 50});
	for (const line of text.split('\n')) {
		t.true(stringWidth(line) <= 50, line);
	}

	t.true(text.includes('x'.repeat(36)));
	t.regex(text, new RegExp(`${family}…`));
});

test('a column shrinks to its minimum, and shorter values stay unchanged', (t) => {
	const id = '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11';
	const least = [
		{title: 'KEY', value: (key: string) => key, flexible: true, least: ID_WIDTH},
		{title: 'X', value: () => 'x'.repeat(20)},
	];
	t.regex(table(least, [id, 'y'.repeat(90)], {width: 40}), new RegExp(`^${id}  x+\ny{35}…  x+$`, 'm'));
});

test('stored text cannot steer the terminal', (t) => {
	t.is(cellText('a\u001B[2Jb\r\nc\u009B1m\u0000'), 'a [2Jb c 1m ');
	t.is(keyValues([['title', '\u001B]0;x\u0007']]), 'title   ]0;x ');
	t.is(keyValues([['params.\u001B[2J\u202Ex', '1']]), 'params. [2Jx  1');
	t.is(cellText('a\u202Eb\u2066c\u200Fd\u2028e'), 'abcd e');
	t.is(terminalText('a\u001B[1m\uFDD0;1\uFDD1\nb'), 'a [1m\uFDD0;1\uFDD1\nb');
	t.is(terminalText(styled('a', 1, 22)), '\u001B[1ma\u001B[22m');
});

test('absent values are dashes, lists are joined, booleans are words', (t) => {
	t.is(cellText(null), '-');
	t.is(cellText([]), '-');
	t.is(cellText(['a', 'b']), 'a, b');
	t.is(cellText(false), 'no');
	t.is(cellText(0), '0');
});

test('a text is broken between words, and a long word stays whole', (t) => {
	t.deepEqual(wrapped('a bb ccc 漢字 https://go.acme.example/x d', 6), [
		'a bb',
		'ccc',
		'漢字',
		'https://go.acme.example/x',
		'd',
	]);
	t.is(keyValues([['name', 'one two three']], 12), 'name  one\n      two\n      three');
});

test('a time span is shown in its largest full unit', (t) => {
	t.deepEqual([0, 59, 60, 3599, 3600, 86_400, 200_000, -1].map(durationText), [
		'0s',
		'59s',
		'1m',
		'59m',
		'1h',
		'1d',
		'2d',
		'0s',
	]);
});
