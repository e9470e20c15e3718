import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {PassThrough} from 'node:stream';
import {stripVTControlCharacters} from 'node:util';
import test from 'ava';
import {render} from 'ink-testing-library';
import {linesOf} from '../../src/cli/import/formats/lines.ts';
import {ProgressBar} from '../../src/cli/terminal/progress-bar.tsx';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {createSink, runCli} from './_run-cli.ts';

/** A terminal on which `keys` have been typed: what ink needs of a stdin, and a stderr that keeps its text. */
const createTerminal = (keys = '') => {
	const stdin = Object.assign(new PassThrough(), {
		isTTY: true,
		setRawMode: () => stdin,
		ref: () => stdin,
		unref: () => stdin,
	});
	stdin.write(keys);
	const sink = createSink();
	return {
		io: {stdin, stderr: Object.assign(sink.stream, {isTTY: true, columns: 80, rows: 24})},
		text: () => stripVTControlCharacters(sink.text()),
		raw: () => sink.text(),
	};
};

const acme = {id: 'x', orgKey: 'Ab12', name: 'Acme\u001B[2J', createdAt: '2026-01-31T00:00:00.000Z'};
const deleted = {
	'GET /admin/organizations/Ab12': () => ({body: acme}),
	'GET /admin/organizations/Ab12/links': () => ({body: pageOf([], {total: 9998})}),
	'GET /admin/organizations/Ab12/links/link-1': () => ({body: {url: 'https://go.example/Ab12/a', title: 'Spring'}}),
	'GET /admin/organizations/Ab12/stats': () => ({body: {totals: {clicks: 1}}}),
	'DELETE /admin/organizations/Ab12': () => ({body: {id: 'x', deleted: true}}),
};

for (const keys of ['y\r', 'yes\n', ' Y\r\n']) {
	test(`a destructive command shows on a terminal what it deletes, and ${JSON.stringify(keys)} confirms`, async (t) => {
		const {env, requests} = await startRecordingServer(t, deleted);
		const terminal = createTerminal(keys);
		const {exitCode, stdout} = await runCli(['orgs', 'delete', 'Ab12'], {env, io: terminal.io});
		t.is(exitCode, 0);
		t.is(stdout, 'Deleted organization Ab12\n');
		t.true(
			terminal.text().includes(`Delete Acme [2J (Ab12): its keys, 9,998 links, 1 click? [y/N] ${keys.trimEnd()}`),
			terminal.text(),
		);
		t.deepEqual(
			requests.filter(({method}) => method !== 'GET').map(({method}) => method),
			['DELETE'],
		);
	});
}

for (const [name, keys, exitCode, says] of [
	['n', 'n\r', 1, /Error: Nothing was changed/],
	['Enter', '\r', 1, /Error: Nothing was changed/],
	['y in a longer word', 'yankee\r', 1, /Error: Nothing was changed/],
	['Ctrl-C', '\u0003', 130, /Interrupted/],
] as const) {
	test(`${name} at the question changes nothing and ends with ${exitCode}`, async (t) => {
		const {env, requests} = await startRecordingServer(t, deleted);
		const terminal = createTerminal(keys);
		const result = await runCli(['orgs', 'delete', 'Ab12'], {env, io: terminal.io});
		t.is(result.exitCode, exitCode);
		t.regex(terminal.text(), says);
		t.true(requests.every(({method}) => method === 'GET'));
	});
}

test('--yes asks nothing on a terminal either', async (t) => {
	const {env, requests} = await startRecordingServer(t, deleted);
	const terminal = createTerminal();
	t.is((await runCli(['orgs', 'delete', 'Ab12', '--yes'], {env, io: terminal.io})).exitCode, 0);
	t.is(requests.length, 1);
	t.is(terminal.raw(), '');
});

test('a link and a suspension are asked for by name', async (t) => {
	const {env} = await startRecordingServer(t, deleted);
	for (const [argv, question] of [
		[['links', 'delete', 'link-1', '--org', 'Ab12'], 'Delete https://go.example/Ab12/a, Spring, permanently? [y/N]'],
		[['orgs', 'suspend', 'Ab12'], 'Suspend Acme [2J (Ab12): its links answer 410 and its keys 401'],
	] as const) {
		const terminal = createTerminal('\r');
		t.is((await runCli([...argv], {env, io: terminal.io})).exitCode, 1);
		t.true(terminal.text().includes(question), terminal.text());
		t.is((await runCli([...argv], {env})).exitCode, 2);
	}
});

test('the bar shows the completed part, with the figures beside it', (t) => {
	const {lastFrame, rerender} = render(<ProgressBar figures={{rows: 5, failed: 0, fraction: 0.5}} />);
	t.is(stripVTControlCharacters(lastFrame() ?? ''), `${'█'.repeat(15)}${'░'.repeat(15)} 5 rows, 50 %`);
	rerender(<ProgressBar figures={{rows: 10, failed: 2, fraction: 1}} />);
	t.is(stripVTControlCharacters(lastFrame() ?? ''), `${'█'.repeat(30)} 10 rows, 2 failed, 100 %`);
	rerender(<ProgressBar figures={{rows: 10, failed: 0, fraction: null}} />);
	t.is(lastFrame(), '10 rows');
});

const importing = {
	'GET /admin/organizations/Ab12/links': () => ({body: pageOf([])}),
	'POST /admin/organizations/Ab12/links/import': {
		raw: async (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => {
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
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-terminal-'));
	t.teardown(() => rm(folder, {recursive: true}));
	await writeFile(path.join(folder, 'links.csv'), 'path\n/a\n/b\n');
	const {env} = await startRecordingServer(t, importing);
	const terminal = createTerminal();
	const argv = ['links', 'import', 'links.csv', '--org', 'Ab12'];
	const {exitCode, stdout} = await runCli(argv, {env, io: {...terminal.io, cwd: folder}});
	t.is(exitCode, 0);
	t.is(stdout, '2 created, 0 updated, 0 skipped, 0 failed\n');
	t.true(terminal.text().includes(`${'█'.repeat(30)} 2 rows, 100 %`));
});

test('with NO_COLOR there is no bar and no escape code on a terminal', async (t) => {
	const {env} = await startRecordingServer(t, importing);
	const terminal = createTerminal('{"path":"/a"}\n');
	terminal.io.stdin.end();
	const argv = ['links', 'import', '-', '--format', 'ndjson', '--org', 'Ab12'];
	const {exitCode} = await runCli(argv, {env: {...env, NO_COLOR: '1'}, io: terminal.io});
	t.is(exitCode, 0);
	t.is(terminal.raw(), '');
});

test('a table has a bold heading on a terminal, a plain one with NO_COLOR', async (t) => {
	const {env} = await startRecordingServer(t, {'GET /admin/organizations': () => ({body: pageOf([{id: 'x'}])})});
	for (const [colour, escapes] of [
		[{}, true],
		[{NO_COLOR: '1'}, false],
		[{TERM: 'dumb'}, false],
	] as const) {
		const sink = createSink();
		const stdout = Object.assign(sink.stream, {isTTY: true, columns: 100});
		await runCli(['orgs', 'list'], {env: {...env, ...colour}, io: {stdout}});
		t.is(sink.text().includes('\u001B[1mID'), escapes);
	}
});
