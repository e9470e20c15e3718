import {chown, mkdir, rename, rm, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {folderOf} from '../helpers/folder.ts';
import {configFolder} from './_config-folder.ts';
import {createTerminal} from './_fake-terminal.ts';
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
	t.is((await runCli('profiles remove two', {env})).stdout, "Removed profile 'two'\n");
	t.deepEqual(await saved(), {current: null, profiles: {one: {url: one.url, token: 'token-1'}}});
});

test('logout forgets the profile in use, or the one that is named', async (t) => {
	const {env, saved} = await twoServers(t);
	t.is((await runCli('logout --name two', {env})).exitCode, 0);
	t.deepEqual(Object.keys((await saved()).profiles), ['one']);
	t.is((await runCli('logout', {env})).stdout, "Removed profile 'one'\n");
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

/** What a first start leaves in a DATA_DIR. */
const fill = async (folder: string, address?: string): Promise<void> => {
	await writeFile(path.join(folder, 'admin-token'), 'generated\n');
	if (address !== undefined) {
		await writeFile(path.join(folder, 'address'), `${address}\n`);
	}
};

/** A DATA_DIR as a first start made it, with the address of its server while it runs. */
const dataFolder = async (t: ExecutionContext, address?: string): Promise<string> => {
	const folder = await folderOf(t);
	await fill(folder, address);
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

test('the server that left its address in DATA_DIR is found, unless the environment names one; one that is unavailable is named', async (t) => {
	const {url, requests} = await startRecordingServer(t, list);
	const folder = await dataFolder(t, url);
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

test('an address from a file gets the token beside it alone, whatever was given without the URL', async (t) => {
	const {url, requests} = await startRecordingServer(t, list);
	const DATA_DIR = await dataFolder(t, url);
	const secrets = {OPLINK_ADMIN_TOKEN: 'secret', ADMIN_TOKEN: 'secret'};
	ends(t, await runCli('orgs list', {env: {DATA_DIR, ...secrets}}), 0, {
		stderr: /^OPLINK_ADMIN_TOKEN is not sent to an address from a file/,
	});
	const next = new RegExp(`is not sent to an address from a file, .*/address\nNext: Add --url ${url}\n$`);
	ends(t, await runCli('orgs list --token secret', {env: {DATA_DIR}}), 2, {stderr: next});
	ends(t, await runCli('links list --api-key secret', {env: {DATA_DIR}}), 2, {stderr: next});
	ends(t, await runCli('links list', {env: {DATA_DIR, OPLINK_API_KEY: 'secret'}}), 2, {stderr: next});
	await rm(path.join(DATA_DIR, 'admin-token'));
	ends(t, await runCli('orgs list', {env: {DATA_DIR, ...secrets}}), 3, {
		stderr: /None is beside .*\/address: oplink login/,
	});
	const authorizations = requests.map(({authorization}) => authorization);
	t.deepEqual(authorizations, ['Bearer generated']);
	ends(t, await runCli(`orgs list --url ${url} --token flag`, {env: {DATA_DIR}}), 0);
	t.is(lastToken({requests}), 'Bearer flag');
});

/** A folder with `data`, as a first start leaves it, and the CLI in it. */
const projectFolder = async (t: ExecutionContext, address: string, env: Record<string, string> = {}) => {
	const folder = await folderOf(t);
	await mkdir(path.join(folder, 'data'));
	await fill(path.join(folder, 'data'), address);
	return {
		folder,
		cli: (line: string, more: Record<string, string> = {}) => runCli(line, {env: {...env, ...more}, io: {cwd: folder}}),
	};
};

test("an address of another machine, of a stranger's file or behind a link is not followed, and is named", async (t) => {
	const {env, one} = await twoServers(t);
	const {url, requests} = await startRecordingServer(t, list);
	const foreign =
		/^data\/address is not followed, because it names no address of this machine: .*\nUsing http\S+ \(profile 'one'\)\n$/;
	for (const address of [
		url.replace('127.0.0.1', '127.0.0.1.nip.io'),
		url.replace('http://', 'http://127.0.0.1@192.0.2.1/'),
		url.replace('http', 'https'),
		'http://192.0.2.1:3000',
		'ftp://127.0.0.1',
		'no URL',
	]) {
		const {cli} = await projectFolder(t, address, env);
		ends(t, await cli('orgs list --json', {OPLINK_ADMIN_TOKEN: 'secret'}), 0, {stderr: foreign});
	}

	const linked = await projectFolder(t, url, env);
	await rename(path.join(linked.folder, 'data/address'), path.join(linked.folder, 'elsewhere'));
	await symlink('../elsewhere', path.join(linked.folder, 'data/address'));
	ends(t, await linked.cli('orgs list --json'), 0, {stderr: ''});
	if (process.geteuid?.() === 0) {
		const strange = await projectFolder(t, url, env);
		await chown(path.join(strange.folder, 'data/address'), 12_345, 12_345);
		ends(t, await strange.cli('orgs list'), 0, {stderr: /is not followed, because it belongs to another user\nUsing/});
	}

	t.deepEqual(requests, []);
	t.is(one.requests.length, process.geteuid?.() === 0 ? 8 : 7);
});

test('the server of this folder or of DATA_DIR comes before the profile in use, and a line says so', async (t) => {
	const {env, one, two} = await twoServers(t);
	const {url, requests} = await startRecordingServer(t, list);
	const {folder, cli} = await projectFolder(t, url, env);
	const line = `Using the server of ./data, ${url}; --profile one names ${one.url}\n`;
	ends(t, await cli('orgs list --json'), 0, {stderr: line, json: pageOf([])});
	t.is(lastToken({requests}), 'Bearer generated');
	// Named ones come first, without a word.
	for (const [options, more, server] of [
		['', {OPLINK_PROFILE: 'two'}, two],
		[' --profile two', {}, two],
		[' --profile one', {}, one],
		[` --url ${two.url} --token x`, {}, two],
		['', {OPLINK_URL: two.url, OPLINK_ADMIN_TOKEN: 'x'}, two],
	] as const) {
		const before = server.requests.length;
		ends(t, await cli(`orgs list --json${options}`, more), 0, {stderr: ''});
		t.is(server.requests.length, before + 1);
	}

	// A server that is down is not taken for another one.
	await rm(path.join(folder, 'data/address'));
	ends(t, await cli('orgs list', {DATA_DIR: './data', PORT: '1'}), 7, {
		stderr: /^Using the server of .\/data, http:\/\/localhost:1; /,
	});
	ends(t, await cli('orgs list', {PORT: '1'}), 0, {
		stderr: /^Using http\S+ \(profile 'one'\); --url http:\/\/localhost:1 names/,
	});
	t.is(requests.length, 1);
});

test('a profile of the server of this folder is used as it was saved', async (t) => {
	const {env, one} = await twoServers(t);
	const {cli} = await projectFolder(t, one.url.replace('127.0.0.1', 'localhost'), env);
	ends(t, await cli('orgs list --json'), 0, {stderr: ''});
	t.is(lastToken(one), 'Bearer token-1');
});

test('confirmations and status name the server', async (t) => {
	const {env, one, two} = await twoServers(t);
	for (const [line, name] of [
		['tokens revoke ci', `${one.url} (profile 'one')`],
		[`tokens revoke ci --url ${two.url} --token x`, two.url],
	] as const) {
		const terminal = createTerminal('n\n');
		ends(t, await runCli(line, {env, io: terminal.io}), 1);
		t.regex(
			terminal.text(),
			new RegExp(
				`^On ${name.replace(/[()]/g, '\\$&')}:\nRevoke the token ci, and all tokens created with it\\? \\[y/N\\] `,
			),
		);
	}

	const status = await startRecordingServer(t, {'GET /admin/status': {body: {status: 'ok'}}});
	const {stdout} = ends(t, await status.cli('status'), 0);
	t.is(stdout, `server  ${status.url}\nstatus  ok\n`);
	ends(t, await status.cli('status --json'), 0, {json: {status: 'ok'}});
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
