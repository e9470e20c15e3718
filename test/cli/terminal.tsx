import {writeFile} from 'node:fs/promises';
import type {IncomingMessage, ServerResponse} from 'node:http';
import path from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import test from 'ava';
import {render} from 'ink-testing-library';
import stringWidth from 'string-width';
import {linesOf} from '../../src/cli/lines.ts';
import {durationText} from '../../src/cli/terminal/duration.ts';
import {cellText, ID_WIDTH, keyValues, table} from '../../src/cli/terminal/output.ts';
import {styled, terminalText} from '../../src/cli/terminal/printable.ts';
import {figuresOf} from '../../src/cli/terminal/progress.ts';
import {ProgressBar} from '../../src/cli/terminal/progress-bar.tsx';
import {progressText} from '../../src/cli/terminal/progress-text.ts';
import {messageText, wrapped} from '../../src/cli/terminal/wrapped.ts';
import {folderOf} from '../helpers/folder.ts';
import {createTerminal} from './_fake-terminal.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {createSink, ends} from './_run-cli.ts';

const acme = {id: 'x', orgKey: 'Ab12', name: 'Acme\u001B[2J', createdAt: '2026-01-31T00:00:00.000Z'};
const linkId = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';
const deleted = {
	'GET /admin/organizations/Ab12': {body: acme},
	'GET /admin/organizations/Ab12/links': {body: pageOf([], {total: 9998})},
	[`GET /admin/organizations/Ab12/links/${linkId}`]: {body: {url: 'https://go.example/Ab12/a', title: 'Spring'}},
	'GET /admin/organizations/Ab12/api-keys': {body: {sdkKey: {}, serverKey: {}, locked: false, earlier: [{}]}},
	'GET /admin/organizations/Ab12/stats': {body: {totals: {clicks: 1}}},
	'DELETE /admin/organizations/Ab12': {body: {id: 'x', deleted: true}},
};

for (const [name, keys, exitCode, says] of [
	['y', 'y\r', 0, / y$/m],
	['yes', 'yes\n', 0, / yes$/m],
	['Y behind a space', ' Y\r\n', 0, / Y$/m],
	['n', 'n\r', 1, /Error: Nothing was changed/],
	['Enter', '\r', 1, /Error: Nothing was changed/],
	['y in a longer word', 'yankee\r', 1, /Error: Nothing was changed/],
	['Ctrl-C', '\u0003', 130, /Interrupted/],
] as const) {
	test(`${name} at the question what is to be deleted ends with ${exitCode}`, async (t) => {
		const {cli, requests} = await startRecordingServer(t, deleted);
		const terminal = createTerminal(keys);
		ends(t, await cli('orgs delete Ab12', {io: terminal.io}), exitCode, {
			stdout: exitCode === 0 ? 'Deleted organization Ab12\n' : '',
		});
		t.true(terminal.text().includes('Delete Acme [2J (Ab12): 9,998 links, 3 keys, 1 click? [y/N] '), terminal.text());
		t.regex(terminal.text(), says);
		const found = requests.flatMap(({method}) => (method === 'GET' ? [] : [method]));
		t.deepEqual(found, exitCode === 0 ? ['DELETE'] : []);
	});
}

test('--yes asks nothing on a terminal either', async (t) => {
	const {cli, requests} = await startRecordingServer(t, deleted);
	const terminal = createTerminal();
	t.is((await cli('orgs delete Ab12 --yes', {io: terminal.io})).exitCode, 0);
	t.is(requests.length, 1);
	t.is(terminal.raw(), '');
});

test('a link and a suspension are asked for by name', async (t) => {
	const {cli} = await startRecordingServer(t, deleted);
	for (const [line, question] of [
		[`links delete ${linkId} --org Ab12`, 'Delete https://go.example/Ab12/a, Spring, permanently? [y/N]'],
		['orgs suspend Ab12', 'Suspend Acme [2J (Ab12): its links answer 410 and its keys 401'],
	] as const) {
		const terminal = createTerminal('\r');
		t.is((await cli(line, {io: terminal.io})).exitCode, 1);
		t.true(terminal.text().includes(question), terminal.text());
		t.is((await cli(line)).exitCode, 2);
	}
});

test('the bar shows the completed part, with the figures beside it', (t) => {
	for (const [figures, shown] of [
		[{rows: 5, failed: 0, fraction: 0.5}, `${'█'.repeat(15)}${'░'.repeat(15)} 5 rows, 50 %`],
		[{rows: 10, failed: 2, fraction: 1}, `${'█'.repeat(30)} 10 rows, 2 failed, 100 %`],
		[{rows: 10, failed: 0, fraction: null}, '10 rows'],
	] as const) {
		const {lastFrame} = render(<ProgressBar figures={figures} />);
		t.is(stripVTControlCharacters(lastFrame() ?? ''), shown);
	}
});

const importing = {
	'GET /admin/organizations/Ab12/links': {body: pageOf([])},
	'POST /admin/organizations/Ab12/links/import': {
		raw: async (request: IncomingMessage, response: ServerResponse) => {
			let line = 0;
			for await (const _ of linesOf(request)) {
				line += 1;
				response.write(`${JSON.stringify({line, status: 'created'})}\n`);
			}

			response.end();
		},
	},
};

test('an import draws its bar on stderr, full at the end, and the summary on stdout', async (t) => {
	const folder = await folderOf(t);
	await writeFile(path.join(folder, 'links.csv'), 'path\n/a\n/b\n');
	const {cli} = await startRecordingServer(t, importing);
	const terminal = createTerminal();
	ends(t, await cli('links import links.csv --org Ab12', {io: {...terminal.io, cwd: folder}}), 0, {
		stdout: '2 created, 0 updated, 0 skipped, 0 failed\n',
	});
	t.true(terminal.text().includes(`${'█'.repeat(30)} 2 rows, 100 %`));
});

test('with NO_COLOR there is no bar and no escape code on a terminal', async (t) => {
	const {cli} = await startRecordingServer(t, importing);
	const terminal = createTerminal('{"path":"/a"}\n');
	terminal.io.stdin.end();
	ends(t, await cli('links import - --format ndjson --org Ab12', {env: {NO_COLOR: '1'}, io: terminal.io}), 0);
	t.is(terminal.raw(), '');
});

test('a table has a bold heading on a terminal, a plain one with NO_COLOR', async (t) => {
	const {cli} = await startRecordingServer(t, {'GET /admin/organizations': {body: pageOf([{id: 'x'}])}});
	const isBold = async (env: Record<string, string>) => {
		const {stream, text} = createSink();
		await cli('orgs list', {env, io: {stdout: Object.assign(stream, {isTTY: true, columns: 100})}});
		return text().includes('\u001B[1mID');
	};
	t.deepEqual(await Promise.all([{}, {NO_COLOR: '1'}, {TERM: 'dumb'}].map(isBold)), [true, false, false]);
});

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
	t.true(Math.max(...text.split('\n').map((line) => stringWidth(line))) <= 50, text);
	t.true(text.includes('x'.repeat(36)));
	t.regex(text, new RegExp(`${family}…`));
});

test('a column shrinks to its minimum, and shorter values stay unchanged', (t) => {
	const id = '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11';
	const least = [
		{title: 'KEY', value: (key: string) => key, flexible: true, minWidth: ID_WIDTH},
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
	t.deepEqual([null, [], ['a', 'b'], false, 0].map(cellText), ['-', '-', 'a, b', 'no', '0']);
});

for (const [command, behind] of [
	['oplink plan set --org Ab12 GROWTH;', 'oplink plan list shows what each allows'],
	['oplink orgs list --search TEXT', 'shows the organization that has it'],
	['oplink domains set --org Ab12 go.acme.example --path-prefix promos,', 'for the old addresses'],
	['npx oplink links update LINK --clear templateId', 'detaches it'],
	["'oplink migrate down'", 'rolls them back'],
	['oplink login,', 'or check --token'],
] as const) {
	test(`a line break never splits ${command}, but what stands around it`, (t) => {
		const text = `Say these words: ${command} ${behind}`;
		for (const width of [12, 40, 60, 79]) {
			const lines = wrapped(text, width);
			t.true(lines.join('\n').includes(command), lines.join('|'));
			t.is(lines.join(' '), text);
		}
	});
}

test('a message is wrapped at words on a terminal, continues indented, and stays a line off it', (t) => {
	const text = 'Error: No\nNext: Cancel it at once, with oplink plan set --org ORG none; then delete\n  a: b c\n';
	t.is(messageText(text, {columns: 36}), text);
	const found = messageText(text, {isTTY: true, columns: 36});
	t.is(found, 'Error: No\nNext: Cancel it at once, with\n  oplink plan set --org ORG none;\n  then delete\n  a: b c\n');
	t.is(messageText('Error: \u001B[2J', {isTTY: true, columns: 80}), 'Error:  [2J');
});

test('on a terminal of 80 columns no line of an error is longer, except a command to be copied', async (t) => {
	const body = {statusCode: 402, message: 'The plan allows no more links', code: 'QUOTA_EXCEEDED'};
	const {cli} = await startRecordingServer(t, {'POST /admin/organizations': {status: 402, body}});
	const terminal = createTerminal();
	await cli('orgs create --name Acme', {io: terminal.io});
	t.deepEqual(terminal.raw().split('\n'), [
		'Error: The plan allows no more links',
		'Next: A larger plan lifts the limit; with the admin token:',
		'  oplink plan set --org ORG PLAN',
		'',
	]);
});

test('a text is broken between words, and a long word stays whole', (t) => {
	const lines = wrapped('a bb ccc 漢字 https://go.acme.example/x d', 6);
	t.deepEqual(lines, ['a bb', 'ccc', '漢字', 'https://go.acme.example/x', 'd']);
	t.is(keyValues([['name', 'one two three']], 12), 'name  one\n      two\n      three');
});

test('a time span is shown in its largest full unit', (t) => {
	const seconds = [0, 59, 60, 3599, 3600, 86_400, 200_000, -1];
	t.is(seconds.map(durationText).join(' '), '0s 59s 1m 59m 1h 1d 2d 0s');
});

const half = {rows: 5000, failed: 2, bytes: 50, size: 100};

test('rate and remaining time are computed after a second; without a known length no time is left', (t) => {
	for (const [changes, seconds, text] of [
		[{}, 0.5, '50 %'],
		[{}, 5, '50 %, 1000 rows/s, 5s left'],
		[{bytes: 1}, 60, '1 %, 83 rows/s, 1h left'],
		[{bytes: 100}, 10, '100 %, 500 rows/s'],
		[{size: null}, 5, '1000 rows/s'],
	] as const) {
		t.is(progressText(figuresOf({...half, ...changes}, seconds)), `5,000 rows, 2 failed, ${text}`);
	}
});

test('the bar gives way, so that it stays on one line', (t) => {
	const figures = figuresOf({rows: 1_000_000, failed: 1000, bytes: 50, size: 100}, 100_000);
	for (const [columns, cells] of [
		[120, 30],
		[80, 25],
		[40, 0],
	] as const) {
		const {lastFrame} = render(<ProgressBar figures={figures} columns={columns} />);
		const [line = ''] = stripVTControlCharacters(lastFrame() ?? '').split('\n');
		t.is((line.match(/[█░]/g) ?? []).length, cells);
		t.true(columns === 40 || line.length < columns);
	}
});
