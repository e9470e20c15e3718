import {access, readFile, writeFile} from 'node:fs/promises';
import type {IncomingMessage, ServerResponse} from 'node:http';
import path from 'node:path';
import {PassThrough, type Readable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {linesOf} from '../../src/cli/lines.ts';
import type {Io} from '../../src/cli/terminal/io.ts';
import {folderOf} from '../helpers/folder.ts';
import {pageOf, type RawHandler, startRecordingServer} from './_recording-server.ts';
import {type CliOptions, ends} from './_run-cli.ts';

type Row = Record<string, unknown>;
type Result = {status: string; error?: unknown};

/** An import that answers each row as it reads it. */
const answering =
	(judge: (row: Row) => Result): RawHandler =>
	async (request: IncomingMessage, response: ServerResponse) => {
		response.writeHead(200, {'content-type': 'application/x-ndjson'});
		response.flushHeaders();
		let line = 0;
		for await (const text of linesOf(request)) {
			line += 1;
			response.write(`${JSON.stringify({line, ...judge(JSON.parse(text) as Row)})}\n`);
		}

		response.end();
	};

const refuseFax = answering(({channel}) =>
	channel === 'fax'
		? {status: 'failed', error: {statusCode: 400, message: "Unknown channel 'fax'"}}
		: {status: 'created'},
);

const setUp = async (t: ExecutionContext, raw: RawHandler = refuseFax) => {
	const folder = await folderOf(t);
	const server = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': {body: pageOf([])},
		'POST /admin/organizations/Ab12/links/import': {raw},
	});
	const imports = (words: string, {io, stdin = ''}: CliOptions = {}) =>
		server.cli(`links import --org Ab12 ${words}`, {stdin, io: {cwd: folder, ...io}});
	/** Rows through standard input. */
	const pipes = (stdin: string | Readable, io: Partial<Io> = {}) => imports('- --format ndjson', {stdin, io});
	return {imports, pipes, file: (name: string) => path.join(folder, name), requests: server.requests};
};

test('a partial import ends with 1, names the lines, and writes the failed rows beside the file', async (t) => {
	const {imports, file} = await setUp(t);
	await writeFile(file('links.csv'), 'path,title,channel\n/a,"x\ny",email\n/b,"two\nlines",fax\n/c\n/d,,email\n');
	ends(t, await imports('links.csv'), 1, {
		stdout: '2 created, 0 updated, 0 skipped, 2 failed\n',
		stderr: [
			/^line 4: Unknown channel 'fax'$/m,
			/^line 6: has 1 cell where 3 are expected$/m,
			/The failed rows are in links\.csv\.failed/,
		],
	});
	const failed = await readFile(file('links.csv.failed'), 'utf8');
	t.true(failed.startsWith('path,title,channel\n'));
	t.deepEqual(failed.split('\n').sort(), ['', '/b,"two', '/c', 'lines",fax', 'path,title,channel'].sort());
});

test('failed rows of a JSON array are an array again, in the file that is named', async (t) => {
	const {imports, file} = await setUp(t);
	const rows = [{path: '/a', channel: 'fax'}, {path: '/b'}, {path: '/c', channel: 'fax'}];
	await writeFile(file('links.json'), JSON.stringify(rows));
	t.is((await imports('links.json --failed again.json')).exitCode, 1);
	t.deepEqual(JSON.parse(await readFile(file('again.json'), 'utf8')), [rows[0], rows[2]]);
});

test('--json prints the summary with the failures', async (t) => {
	const details = [{field: 'path', message: 'path is required'}];
	const failed = {status: 'failed', error: {message: 'Validation failed', details}};
	const results = [{status: 'created'}, failed, {status: 'skipped'}, {status: 'updated'}];
	const {imports} = await setUp(
		t,
		answering(() => results.shift() ?? failed),
	);
	const failures = [{line: 2, message: 'Validation failed', details}];
	ends(t, await imports('- --format ndjson --json', {stdin: '{"path":"/a"}\n'.repeat(4)}), 1, {
		json: {created: 1, updated: 1, skipped: 1, failed: 1, failures},
		stderr: 'line 2: path is required\n',
	});
});

test('an import without failures ends with 0 and leaves no file behind, and a file without rows is reported', async (t) => {
	const skipping = answering(() => ({status: 'skipped'}));
	const {imports, file} = await setUp(t, skipping);
	await writeFile(file('links.csv'), 'path\n/a\n');
	ends(t, await imports('links.csv'), 0, {stdout: '0 created, 0 updated, 1 skipped, 0 failed\n'});
	await t.throwsAsync(access(file('links.csv.failed')));
	for (const text of ['', 'path,title\n']) {
		await writeFile(file('links.csv'), text);
		ends(t, await imports('links.csv'), 0, {
			stdout: '0 created, 0 updated, 0 skipped, 0 failed\n',
			stderr: 'links.csv has no rows\n',
		});
	}
});

test('--dry-run and --on-conflict reach the server, and a dry run writes no file of failed rows', async (t) => {
	const {imports, file, requests} = await setUp(t);
	await writeFile(file('links.csv'), 'path,channel\n/a,fax\n/b,email\n');
	ends(t, await imports('links.csv --dry-run --on-conflict update'), 1, {
		stdout: 'Would be: 1 created, 0 updated, 0 skipped, 1 failed\n',
	});
	t.is(requests.at(-1)?.url, '/admin/organizations/Ab12/links/import?dryRun=true&onConflict=update');
	t.is(requests.at(-1)?.headers['content-type'], 'application/x-ndjson');
	await t.throwsAsync(access(file('links.csv.failed')));
});

test('results are read while rows are still being sent', async (t) => {
	const stdin = new PassThrough();
	let answered = 0;
	const judge = () => {
		answered += 1;
		// The second row is written only once the first one is answered.
		stdin.end(answered === 1 ? '{"path":"/b"}\n' : undefined);
		return {status: 'created'};
	};
	const {pipes} = await setUp(t, answering(judge));
	stdin.write('{"path":"/a"}\n');
	ends(t, await pipes(stdin), 0, {stdout: '2 created, 0 updated, 0 skipped, 0 failed\n'});
});

test('a server that stops in the middle ends with 7 and says how far it came', async (t) => {
	const {pipes} = await setUp(t, async (request, response) => {
		response.writeHead(200);
		response.write('{"line":1,"status":"created"}\n');
		for await (const _ of linesOf(request)) {
			// Read to the end, answer the first alone.
		}

		response.end();
	});
	ends(t, await pipes('{"path":"/a"}\n{"path":"/b"}\n'), 7, {
		stdout: '',
		stderr: [
			/The server confirmed 1 row of standard input, and more may be imported \(1 created.*links that exist are skipped/,
			/it stopped with 1 row unanswered/,
		],
	});
});

test('a connection that breaks while rows are being sent ends with 7', async (t) => {
	const {pipes} = await setUp(t, async (request, response) => {
		response.write('{"line":1,"status":"created"}\n', () => request.socket.destroy());
	});
	ends(t, await pipes('{"path":"/a"}\n'.repeat(200_000)), 7, {
		stderr: [/The server confirmed \d rows? of standard input, and more may be imported/, /Cannot reach/],
	});
});

test('an import that is refused as a whole ends as any request does', async (t) => {
	const {pipes} = await setUp(t, (request, response) => {
		request.resume();
		response.writeHead(428, {'content-type': 'application/json'});
		response.end(JSON.stringify({statusCode: 428, message: 'Register an app', code: 'APP_CONFIG_REQUIRED'}));
	});
	ends(t, await pipes('{"path":"/a"}\n'), 6, {stderr: /Error: Register an app\nNext: Register the apps/});
});

test('an unknown organization is reported before any row is sent', async (t) => {
	const {imports, requests} = await setUp(t);
	ends(t, await imports('- --format ndjson --org None', {stdin: '{"path":"/a"}\n'}), 4);
	t.is(requests.length, 1);
});

test('Ctrl-C ends with 130 and says how far the import came', async (t) => {
	const interruption = new AbortController();
	const {pipes} = await setUp(t, (_request, response) => {
		response.write('{"line":1,"status":"created"}\n', () => interruption.abort());
	});
	const stdin = new PassThrough();
	stdin.write('{"path":"/a"}\n{"path":"/b"}\n');
	ends(t, await pipes(stdin, {interruption: interruption.signal}), 130, {
		stderr: /^Interrupted\nThe server confirmed (?:0 rows|1 row) of standard input, and more may be imported/,
	});
});

test('an unknown column ends with 2, a missing file with 1, the input file as --failed and a pipe by its name with 2', async (t) => {
	const {imports, file} = await setUp(t);
	await writeFile(file('links.csv'), 'path,colour\n/a,red\n');
	ends(t, await imports('links.csv'), 2, {stderr: /Unknown column 'colour'/});
	ends(t, await imports('missing.csv'), 1, {stderr: /missing\.csv does not exist\nNext: Correct FILE/});
	t.is((await imports('links.csv --failed ./links.csv')).exitCode, 2);
	ends(t, await imports('/dev/null --format csv'), 2, {
		stderr: /^Error: \/dev\/null is not a regular file\nNext: Write - for it/,
	});
	await writeFile(file('links.txt'), 'what is this?\n');
	ends(t, await imports('links.txt'), 2, {
		stderr: /'links\.txt' has no recognizable format\nNext: Add --format csv\|json\|ndjson\|firebase/,
	});
});

test('off a terminal progress is a line now and then', async (t) => {
	let tick = () => {};
	const judge = ({path: p}: Row) => {
		if (p === '/last') {
			tick();
		}

		return {status: 'created'};
	};
	const {imports, file} = await setUp(t, answering(judge));
	await writeFile(file('links.ndjson'), '{"path":"/a"}\n{"path":"/last"}\n');
	const every = (seconds: number, work: () => void) => {
		t.is(seconds, 5);
		tick = work;
		return () => {};
	};
	ends(t, await imports('links.ndjson', {io: {every}}), 0, {stderr: /^\d rows(?:, \d+ %)?\n$/});
});
