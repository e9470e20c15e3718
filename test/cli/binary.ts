import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import test from 'ava';
import {closedAddress, pageOf, startRecordingServer} from './_recording-server.ts';
import {finish, type Program, start} from './_spawn-cli.ts';

test('the program succeeds with help and ends with 2 for an unknown command', async (t) => {
	const [help, unknown] = await Promise.all([finish(start(t, [])), finish(start(t, ['orsg']))]);
	t.is(help.exitCode, 0);
	t.regex(help.stdout, /^Usage: oplink/);
	t.is(unknown.exitCode, 2);
	t.regex(unknown.stderr, /Did you mean orgs\?/);
});

test('an unreachable server ends the program with 7', async (t) => {
	const {exitCode, stdout} = await finish(start(t, ['status', '--url', closedAddress, '--token', 'x']));
	t.is(exitCode, 7);
	t.is(stdout, '');
});

test('a closed pipe ends the program quietly', async (t) => {
	const lines = `${JSON.stringify({path: '/x'.repeat(500)})}\n`.repeat(5000);
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links/export': () => ({body: Buffer.from(lines)}),
	});
	const child = start(t, ['links', 'export', '--org', 'Ab12'], env);
	child.stdout.once('data', () => child.stdout.destroy());
	const [[exitCode], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
	t.is(exitCode, 0);
	t.is(stderr, '');
});

test('Ctrl-C ends a command with 130', async (t) => {
	const child: {process?: Program} = {};
	const {env} = await startRecordingServer(t, {'GET /admin/status': {raw: () => void child.process?.kill('SIGINT')}});
	child.process = start(t, ['status'], env);
	const {exitCode, stderr} = await finish(child.process);
	t.is(exitCode, 130);
	t.is(stderr, 'Interrupted\n');
});

test('Ctrl-C ends an import that waits for standard input', async (t) => {
	const child: {process?: Program} = {};
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': () => ({body: pageOf([])}),
		'POST /admin/organizations/Ab12/links/import': {
			raw: (request) => {
				request.once('data', () => child.process?.kill('SIGINT'));
			},
		},
	});
	child.process = start(t, ['links', 'import', '-', '--format', 'ndjson', '--org', 'Ab12'], env);
	child.process.stdin.write('{"path":"/a"}\n');
	const {exitCode, stderr} = await finish(child.process);
	t.is(exitCode, 130);
	// On a slow machine it may have printed its progress, as it does every few seconds.
	t.regex(stderr, /^(?:0 rows\n)?Interrupted\n0 row\(s\) of standard input are confirmed, and more may be imported/);
});
