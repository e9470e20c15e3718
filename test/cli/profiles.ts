import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {configFolder} from './_config-folder.ts';
import {folderOf} from './_folder.ts';
import {pageOf, type RecordedRequest, startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';

const list = {'GET /admin/organizations': {body: pageOf([])}};

/** Two servers, each with a profile of its name; `one` is in use. */
const twoServers = async (t: ExecutionContext) => {
	const [one, two, config] = await Promise.all([
		startRecordingServer(t, list),
		startRecordingServer(t, list),
		configFolder(t),
	]);
	const profiles = {one: {url: one.url, token: 'token-1'}, two: {url: two.url, token: 'token-2'}};
	await mkdir(path.dirname(config.file));
	await writeFile(config.file, JSON.stringify({current: 'one', profiles}));
	return {...config, one, two};
};

const lastToken = ({requests}: {requests: RecordedRequest[]}) => requests.at(-1)?.authorization;

test('commands use the current profile, or the named one', async (t) => {
	const {env, one, two} = await twoServers(t);
	for (const [options, more, server, token] of [
		['', {}, one, 'token-1'],
		[' --profile two', {}, two, 'token-2'],
		['', {OPLINK_PROFILE: 'two'}, two, 'token-2'],
		[' --profile one', {OPLINK_PROFILE: 'two'}, one, 'token-1'],
		[' --profile two', {OPLINK_URL: one.url, OPLINK_ADMIN_TOKEN: 'env'}, two, 'token-2'],
		[' --token flag', {OPLINK_PROFILE: 'two'}, two, 'flag'],
		['', {OPLINK_URL: two.url, OPLINK_ADMIN_TOKEN: 'env'}, two, 'env'],
		['', {OPLINK_ADMIN_TOKEN: 'env'}, one, 'env'],
		['', {PUBLIC_URL: 'http://127.0.0.1:1', ADMIN_TOKEN: 'server'}, one, 'token-1'],
		[` --url ${one.url}`, {}, one, 'token-1'],
	] as const) {
		ends(t, await runCli(`orgs list${options}`, {env: {...env, ...more}}), 0);
		t.is(lastToken(server), `Bearer ${token}`);
	}
});

test('the token of a profile goes to no other server', async (t) => {
	const {env, two} = await twoServers(t);
	ends(t, await runCli(`orgs list --url ${two.url}`, {env}), 3);
	ends(t, await runCli('orgs list', {env: {...env, OPLINK_URL: two.url}}), 3);
	t.deepEqual(two.requests, []);
});

test('profiles are listed without their tokens, used and removed', async (t) => {
	const {env, saved, one, two} = await twoServers(t);
	const {stdout} = await runCli('profiles list --json', {env});
	t.deepEqual(JSON.parse(stdout), [
		{name: 'one', url: one.url, current: true},
		{name: 'two', url: two.url, current: false},
	]);
	t.notRegex((await runCli('profiles list', {env})).stdout, /token/);
	t.is((await runCli('profiles use two', {env})).exitCode, 0);
	t.is((await saved()).current, 'two');
	t.is((await runCli('profiles remove two', {env})).stdout, "Forgot profile 'two'\n");
	t.deepEqual(await saved(), {current: null, profiles: {one: {url: one.url, token: 'token-1'}}});
});

test('logout forgets the profile in use, or the one that is named', async (t) => {
	const {env, saved} = await twoServers(t);
	t.is((await runCli('logout --name two', {env})).exitCode, 0);
	t.deepEqual(Object.keys((await saved()).profiles), ['one']);
	t.is((await runCli('logout', {env})).stdout, "Forgot profile 'one'\n");
	t.deepEqual(await saved(), {current: null, profiles: {}});
	t.is((await runCli('logout', {env})).exitCode, 2);
});

test('a profile that is not there ends with 4', async (t) => {
	const {env} = await twoServers(t);
	for (const line of [
		'orgs list --profile three',
		'profiles use constructor',
		'profiles remove __proto__',
		'logout --name three',
	]) {
		ends(t, await runCli(line, {env}), 4, {stderr: /^Error: There is no profile '/});
	}
});

test('a file without valid profiles is named, and its text is not repeated', async (t) => {
	const {env, file, one} = await twoServers(t);
	for (const text of [
		'{"profiles": {"one": {"token": "token-1"',
		'{"profiles": {"one": {"token": "token-1"}}}',
		'[]',
	]) {
		await writeFile(file, text);
		ends(t, await runCli('orgs list', {env}), 1, {
			stderr: `Error: ${file} contains no valid profiles: fix it, or remove it and log in again\n`,
		});
		const named = {...env, OPLINK_URL: one.url, OPLINK_ADMIN_TOKEN: 'env'};
		ends(t, await runCli('orgs list', {env: named}), 0);
	}
});

test('login reports a missing folder and an invalid profile name', async (t) => {
	const {url} = await startRecordingServer(t, {'GET /admin/whoami': {body: {version: '1'}}});
	const login = `login --url ${url} --token x`;
	ends(t, await runCli(login, {env: {XDG_CONFIG_HOME: 'relative'}}), 1, {
		stderr: /HOME and XDG_CONFIG_HOME are not set/,
	});
	const {env} = await configFolder(t);
	ends(t, await runCli(`${login} --name ../x`, {env}), 2, {stderr: /'\.\.\/x' is not a valid profile name/});
});

/** A DATA_DIR with the token that a first start made. */
const dataFolder = async (t: ExecutionContext): Promise<string> => {
	const folder = await folderOf(t);
	await writeFile(path.join(folder, 'admin-token'), 'generated\n');
	return folder;
};

test('options win over OPLINK_ variables, and those over the variables of the server', async (t) => {
	const {url, requests} = await startRecordingServer(t, list);
	const wrong = 'http://127.0.0.1:1';
	for (const [options, env, token] of [
		[` --url ${url} --token flag`, {OPLINK_URL: wrong, OPLINK_ADMIN_TOKEN: 'env'}, 'flag'],
		['', {OPLINK_URL: url, PUBLIC_URL: wrong, OPLINK_ADMIN_TOKEN: 'env', ADMIN_TOKEN: 'server'}, 'env'],
		['', {PUBLIC_URL: `${url}/`, ADMIN_TOKEN: 'server'}, 'server'],
		['', {PORT: new URL(url).port, ADMIN_TOKEN: 'server'}, 'server'],
	] satisfies Array<[string, Record<string, string>, string]>) {
		ends(t, await runCli(`orgs list${options}`, {env}), 0);
		t.is(requests.at(-1)?.authorization, `Bearer ${token}`);
	}
});

test('global options are understood before the command too', async (t) => {
	const {url} = await startRecordingServer(t, list);
	ends(t, await runCli(`--json --url ${url} --token x orgs list`), 0, {json: pageOf([])});
});

test('the token that the server on this machine generated is found by itself', async (t) => {
	const {url, requests} = await startRecordingServer(t, list);
	const folder = await dataFolder(t);
	ends(t, await runCli('orgs list', {env: {OPLINK_URL: url, DATA_DIR: folder}}), 0);
	t.is(requests[0]?.authorization, 'Bearer generated');
});

test('the server that left its address in DATA_DIR is found, unless the environment names one; one that is away is named', async (t) => {
	const {url, requests} = await startRecordingServer(t, list);
	const folder = await dataFolder(t);
	await writeFile(path.join(folder, 'address'), `${url}\n`);
	t.is((await runCli('orgs list', {env: {DATA_DIR: folder}})).exitCode, 0);
	t.is(requests[0]?.authorization, 'Bearer generated');
	for (const named of [{PUBLIC_URL: 'http://127.0.0.1:1'}, {PORT: '1'}]) {
		t.is((await runCli('orgs list', {env: {DATA_DIR: folder, ...named}})).exitCode, 7);
	}

	await writeFile(path.join(folder, 'address'), 'http://127.0.0.1:1\n');
	ends(t, await runCli('orgs list', {env: {DATA_DIR: folder}}), 7, {
		stderr: /^Error: Cannot reach http:\/\/127\.0\.0\.1:1: .*\nNext: A server left that address in \S+\/address; start/,
	});
	t.is(requests.length, 1);
});

test('the generated token is not offered to another host', async (t) => {
	const folder = await dataFolder(t);
	ends(t, await runCli('orgs list --url http://links.example', {env: {DATA_DIR: folder}}), 3, {
		stderr: /No admin token is given/,
	});
});

test('an invalid URL is a usage error', async (t) => {
	ends(t, await runCli('orgs list --url localhost:3000 --token x'), 2, {
		stderr: /'localhost:3000' is not an http or https URL/,
	});
});
