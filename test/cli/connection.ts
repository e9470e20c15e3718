import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {runCli} from './_run-cli.ts';

const list = {'GET /admin/organizations': () => ({body: pageOf([])})};

/** A DATA_DIR with the token that a first start made. */
const dataFolder = async (t: ExecutionContext): Promise<string> => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-cli-'));
	t.teardown(() => rm(folder, {recursive: true}));
	await writeFile(path.join(folder, 'admin-token'), 'generated\n');
	return folder;
};

test('options win over OPLINK_ variables, and those over the variables of the server', async (t) => {
	const {url, requests} = await startRecordingServer(t, list);
	const wrong = 'http://127.0.0.1:1';
	const steps = [
		{argv: ['--url', url, '--token', 'flag'], env: {OPLINK_URL: wrong, OPLINK_ADMIN_TOKEN: 'env'}, token: 'flag'},
		{
			argv: [],
			env: {OPLINK_URL: url, PUBLIC_URL: wrong, OPLINK_ADMIN_TOKEN: 'env', ADMIN_TOKEN: 'server'},
			token: 'env',
		},
		{argv: [], env: {PUBLIC_URL: `${url}/`, ADMIN_TOKEN: 'server'}, token: 'server'},
		{argv: [], env: {PORT: new URL(url).port, ADMIN_TOKEN: 'server'}, token: 'server'},
	];
	for (const {argv, env, token} of steps) {
		const {exitCode} = await runCli(['orgs', 'list', ...argv], {env: env as Record<string, string>});
		t.is(exitCode, 0);
		t.is(requests.at(-1)?.authorization, `Bearer ${token}`);
	}
});

test('global options are understood before the command too', async (t) => {
	const {url} = await startRecordingServer(t, list);
	const {exitCode, stdout} = await runCli(['--json', '--url', url, '--token', 'x', 'orgs', 'list']);
	t.is(exitCode, 0);
	t.deepEqual(JSON.parse(stdout), pageOf([]));
});

test('the token that the server on this machine generated is found by itself', async (t) => {
	const {url, requests} = await startRecordingServer(t, list);
	const folder = await dataFolder(t);
	const {exitCode} = await runCli(['orgs', 'list'], {env: {OPLINK_URL: url, DATA_DIR: folder}});
	t.is(exitCode, 0);
	t.is(requests[0]?.authorization, 'Bearer generated');
});

test('the generated token is not offered to another host', async (t) => {
	const folder = await dataFolder(t);
	const {exitCode, stderr} = await runCli(['orgs', 'list', '--url', 'http://links.example'], {env: {DATA_DIR: folder}});
	t.is(exitCode, 3);
	t.regex(stderr, /No admin token is given/);
});

test('an invalid URL is a usage error', async (t) => {
	const {exitCode, stderr} = await runCli(['orgs', 'list', '--url', 'localhost:3000', '--token', 'x']);
	t.is(exitCode, 2);
	t.regex(stderr, /'localhost:3000' is not an http or https URL/);
});
