import {chmod, lstat, lutimes, mkdir, readFile, symlink, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {PassThrough} from 'node:stream';
import {stripVTControlCharacters} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {configFolder} from './_config-folder.ts';
import {createTerminal} from './_fake-terminal.ts';
import {hasPty, runOnTerminal} from './_pty.ts';
import {closedAddress, pageOf, startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';
import {finish, start} from './_spawn-cli.ts';

const TOKEN = 'token-of-the-operator';

/** A server that accepts one token. */
const server = (t: ExecutionContext, token = TOKEN) =>
	startRecordingServer(t, {
		'GET /admin/whoami': ({authorization}) =>
			authorization === `Bearer ${token}`
				? {body: {status: 'ok', version: '1.2.3'}}
				: {status: 401, body: {statusCode: 401, message: 'Invalid admin token'}},
		'GET /admin/organizations': {body: pageOf([])},
	});

test('login checks the token, saves a profile that only its owner reads, and shows the token nowhere', async (t) => {
	const {url, requests} = await server(t);
	const {env, saved, modes} = await configFolder(t);
	const argv = ['login', '--url', `${url}/`, '--token-file', '-', '--json'];
	const {stdout, stderr} = ends(t, await runCli(argv, {env, stdin: `${TOKEN}\n`}), 0, {
		json: {name: 'default', url, version: '1.2.3'},
	});
	t.false(`${stdout}${stderr}`.includes(TOKEN));
	t.is(requests.length, 1);
	t.deepEqual(await saved(), {current: 'default', profiles: {default: {url, token: TOKEN}}});
	t.deepEqual(await modes(), [0o700, 0o600]);
});

test('a folder and a file that everybody could read are closed', async (t) => {
	const {url} = await server(t);
	const {file, env, modes} = await configFolder(t);
	await mkdir(path.dirname(file));
	await writeFile(file, JSON.stringify({profiles: {}}));
	await Promise.all([chmod(path.dirname(file), 0o755), chmod(file, 0o644)]);
	t.is((await runCli(`login --url ${url} --token ${TOKEN}`, {env})).exitCode, 0);
	t.deepEqual(await modes(), [0o700, 0o600]);
});

test('the token comes from a file or from the environment too', async (t) => {
	const {url} = await server(t);
	const {folder, env, saved} = await configFolder(t);
	await writeFile(path.join(folder, 'token'), `${TOKEN}\r\n`);
	ends(t, await runCli(['login', '--url', url, '--token-file', path.join(folder, 'token')], {env}), 0, {
		stdout: `Logged in to ${url} (Oplink 1.2.3) as profile 'default'\n`,
	});
	const given = {...env, OPLINK_URL: url, OPLINK_ADMIN_TOKEN: TOKEN};
	t.is((await runCli('login --name other', {env: given})).exitCode, 0);
	t.like(await saved(), {current: 'other', profiles: {default: {token: TOKEN}, other: {token: TOKEN}}});
});

test('a token that is refused, has a space or is empty is not saved', async (t) => {
	const {url} = await server(t);
	const {env, file} = await configFolder(t);
	for (const [stdin, exitCode] of [
		['wrong', 3],
		['two words', 2],
		['', 1],
	] as const) {
		const {stderr} = ends(t, await runCli(`login --url ${url} --token-file -`, {env, stdin}), exitCode, {
			stderr: /^Error: /,
		});
		t.false(stdin !== '' && stderr.includes(stdin));
		await t.throwsAsync(readFile(file));
	}
});

test('an unreachable or foreign server is not saved', async (t) => {
	const {env, file} = await configFolder(t);
	const other = await startRecordingServer(t, {'GET /admin/whoami': {body: {hello: 'world'}}});
	ends(t, await runCli(`login --url ${closedAddress} --token ${TOKEN}`, {env}), 7);
	ends(t, await runCli(`login --url ${other.url} --token ${TOKEN}`, {env}), 1, {stderr: /is not an Oplink server/});
	await t.throwsAsync(readFile(file));
});

test('a piped token is used without an option', async (t) => {
	const {url} = await server(t);
	const {env, saved} = await configFolder(t);
	ends(t, await runCli(`login --url ${url}`, {env, stdin: `${TOKEN}\n`}), 0, {
		stdout: `Logged in to ${url} (Oplink 1.2.3) as profile 'default'\n`,
		stderr: 'Reading the admin token from standard input\n',
	});
	t.deepEqual(await saved(), {current: 'default', profiles: {default: {url, token: TOKEN}}});
});

test('Ctrl-C ends a login that waits for a token on a pipe, with nothing saved', async (t) => {
	const {env, file} = await configFolder(t);
	const waiting = start(t, `login --url ${closedAddress}`, env);
	waiting.stderr.once('data', () => waiting.kill('SIGINT'));
	ends(t, await finish(waiting), 130, {stderr: /\nInterrupted\n$/});
	await t.throwsAsync(readFile(file));
});

test('a token that is given leaves standard input unread', async (t) => {
	const {url} = await server(t);
	const {env, saved} = await configFolder(t);
	const stdin = new PassThrough();
	ends(t, await runCli(`login --url ${url}`, {env: {...env, OPLINK_ADMIN_TOKEN: TOKEN}, stdin}), 0, {stderr: ''});
	t.like(await saved(), {profiles: {default: {token: TOKEN}}});
});

test('without a terminal nothing is asked', async (t) => {
	const {env} = await configFolder(t);
	for (const [argv, says] of [
		[['login'], /No server URL is given/],
		[['login', '--url', 'http://localhost:1'], /No admin token is given, and standard input is empty/],
	] as const) {
		ends(t, await runCli([...argv], {env}), 2, {
			stderr: [says, /\nNext: Give --url URL, and the token by --token-file FILE, by OPLINK_ADMIN_TOKEN or/],
		});
	}
});

test('on a terminal login asks for URL and token, echoes only the URL and restores the terminal', async (t) => {
	const {url} = await server(t);
	const {env, saved} = await configFolder(t);
	const terminal = createTerminal(`${url}\r${TOKEN}\r`);
	const {stdout} = ends(t, await runCli('login --name prod', {env, io: terminal.io}), 0);
	t.regex(terminal.text(), /Server \[http:\/\/localhost:3000\]: /);
	t.true(terminal.text().includes(url));
	t.regex(terminal.text(), /Admin token \(not shown\): \n$/);
	t.false(`${terminal.text()}${stdout}`.includes(TOKEN));
	t.false(terminal.isRaw());
	t.like(await saved(), {current: 'prod', profiles: {prod: {url, token: TOKEN}}});
});

for (const [what, keys, exitCode, says] of [
	['Ctrl-C at the first question', '\u0003', 130, /\nInterrupted\n$/],
	['Ctrl-C at the second question', 'http://localhost:1\rabc\u0003', 130, /\nInterrupted\n$/],
	['Ctrl-D', '\u0004', 1, /\nError: Nothing was entered\n$/],
] as const) {
	test(`${what} saves nothing, ends with ${exitCode} and restores the terminal`, async (t) => {
		const {env, file} = await configFolder(t);
		const terminal = createTerminal(keys);
		ends(t, await runCli('login', {env, io: terminal.io}), exitCode);
		t.regex(terminal.text(), says);
		t.false(terminal.isRaw());
		await t.throwsAsync(readFile(file));
	});
}

// The streams of a real terminal, where there is what makes one; the tests above use streams that act like it.
const terminalTest = hasPty ? test : test.skip;

terminalTest('on a real terminal the token is not on the screen, and the terminal is as it was', async (t) => {
	const {url} = await server(t);
	const {env, saved} = await configFolder(t);
	const answers: Array<[string, string]> = [
		['Server [', `${url}\r`],
		['Admin token', `${TOKEN}\r`],
	];
	const {screen, before, after} = ends(t, await runOnTerminal(t, ['login'], {env, answers}), 0);
	t.true(screen.includes(`Logged in to ${url}`));
	t.false(screen.includes(TOKEN));
	t.is(after, before);
	t.is((await saved()).profiles.default.token, TOKEN);
});

terminalTest('Ctrl-C at the prompt of a real terminal ends with 130 and restores the terminal', async (t) => {
	const {env} = await configFolder(t);
	const argv = ['login', '--url', 'http://localhost:1'];
	const typed: Array<[string, string]> = [['Admin token', 'abc\u0003']];
	const {screen, before, after} = ends(t, await runOnTerminal(t, argv, {env, answers: typed}), 130);
	t.regex(stripVTControlCharacters(screen), /Interrupted\r?\n$/);
	t.is(after, before);
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

test('a lock of profiles that leads nowhere, is a folder or is of the future ends', async (t) => {
	const {env, file} = await configFolder(t);
	await mkdir(path.dirname(file));
	const signIn = {
		issuer: 'http://127.0.0.1:1',
		clientId: 'c',
		refreshToken: 'r',
		expiresAt: '2020-01-01T00:00:00.000Z',
	};
	await writeFile(
		file,
		JSON.stringify({current: 'one', profiles: {one: {url: 'http://127.0.0.1:1', token: 'x', signIn}}}),
	);
	const lock = `${file}.lock`;
	const future = new Date('2100-01-01T00:00:00.000Z');
	const ended = /^Error: The sign-in of profile 'one' could not be renewed/;
	const leave = [
		async () => {
			await symlink('/nonexistent/lock', lock);
			await lutimes(lock, 0, 0);
		},
		() => mkdir(lock).then(() => utimes(lock, 0, 0)),
		() => writeFile(lock, '').then(() => utimes(lock, future, future)),
	];
	for (const left of leave) {
		await left();
		ends(t, await runCli('orgs list', {env}), 3, {stderr: ended});
		await t.throwsAsync(lstat(lock), {code: 'ENOENT'});
	}
});
