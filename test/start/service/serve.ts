import {once} from 'node:events';
import {readFile, stat} from 'node:fs/promises';
import {type IncomingMessage, request} from 'node:http';
import path from 'node:path';
import test from 'ava';
import {send} from '../../helpers/callers.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';

test('a first start prints a link, its QR code and curl lines that work; it is graceful, and a second start brings it back', async (t) => {
	const env = {PORT: '0', DATA_DIR: await dataDirectory(t)};
	const first = oplink(t, ['serve'], env);
	const [, url = ''] = await first.printed(ready);
	const [, link = ''] = await first.printed(/demo organization \S+: (\S+)/);
	await first.printed(/npx oplink status/);
	t.regex(first.stdout(), /[█▀▄]{5}/);
	const [, key = ''] = /Bearer (opl_api_\S+)'/.exec(first.stdout()) ?? [];
	const {pathname} = new URL(link);
	t.is((await send(url, 'GET', '/health/ready')).status, 200);
	t.is((await send(url, 'GET', pathname)).status, 200);
	t.is((await send(url, 'GET', `${pathname}/data`)).body.path, '/hello');
	const created = await send(
		url,
		'POST',
		'/links',
		{Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'},
		'{"path": "/product/42", "title": "Red shoes"}',
	);
	t.is(created.status, 201);
	t.is((await stat(path.join(env.DATA_DIR, 'admin-token'))).mode & 0o777, 0o600);
	const token = (await readFile(path.join(env.DATA_DIR, 'admin-token'), 'utf8')).trim();
	t.true(token.length >= 32);
	const address = path.join(env.DATA_DIR, 'address');
	t.is((await readFile(address, 'utf8')).trim(), `http://127.0.0.1:${new URL(url).port}`);
	t.false(first.stderr().includes(token) || first.stderr().includes(key));

	const second = oplink(t, ['serve'], env);
	t.is(await second.ended, 1);
	t.regex(second.stderr(), /^Error: DATA_DIR \S+ is in use by another Oplink server/m);
	t.notRegex(second.stderr(), /bug/);
	t.regex(second.stderr(), new RegExp(String(first.child.pid)));
	t.is((await send(url, 'GET', pathname)).status, 200);

	first.child.kill('SIGTERM');
	t.is(await first.ended, 0);
	await t.throwsAsync(stat(address), {code: 'ENOENT'});

	const third = oplink(t, ['serve'], env);
	const [, again = ''] = await third.printed(ready);
	await third.printed(/Its API keys/);
	t.false(third.stdout().includes('opl_api_'));
	t.is((await send(again, 'GET', new URL(created.body.url).pathname)).status, 200);
	third.child.kill('SIGKILL');
	await third.ended;

	const fourth = oplink(t, ['serve'], env);
	const [, last = ''] = await fourth.printed(ready);
	t.is((await send(last, 'GET', new URL(created.body.url).pathname)).status, 200);
	fourth.child.kill('SIGINT');
	t.is(await fourth.ended, 0);
});

test('an invalid configuration ends the start with 78 and a line for each fault', async (t) => {
	const {ended, stderr} = oplink(t, ['serve'], {PORT: 'x', LOG_LEVEL: 'loud', DATA_DIR: await dataDirectory(t)});
	t.is(await ended, 78);
	const lines = stderr().trim().split('\n');
	t.true(lines.some((line) => line.includes('PORT')));
	t.true(lines.some((line) => line.includes('LOG_LEVEL')));
});

test('with DATABASE_URL that server is used, without a demo organization', async (t) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const {printed, child, ended, stdout} = oplink(t, ['serve'], {
		PORT: '0',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
	});
	const [, url = ''] = await printed(ready);
	t.is((await send(url, 'GET', '/health/ready')).body.checks.database, 'ok');
	t.false(stdout().includes('demo'));
	child.kill('SIGTERM');
	t.is(await ended, 0);
});

test('in production no demo organization is made, and no key is printed', async (t) => {
	const adminToken = 'a-token-of-32-characters-or-more';
	const {printed, child, ended, stdout, stderr} = oplink(t, ['serve'], {
		PORT: '0',
		NODE_ENV: 'production',
		ADMIN_TOKEN: adminToken,
		DATA_DIR: await dataDirectory(t),
	});
	const [, url = ''] = await printed(ready);
	const {status, body} = await send(url, 'GET', '/admin/organizations', {Authorization: `Bearer ${adminToken}`});
	t.deepEqual([status, body.total], [200, 0]);
	child.kill('SIGTERM');
	t.is(await ended, 0);
	t.notRegex(stdout() + stderr(), /opl_|demo/);
});

test('Ctrl-C, which npm passes on a second time, lets running requests finish, and accepts no new one', async (t) => {
	const {printed, child, ended, stdout} = oplink(t, ['serve'], {PORT: '0', DATA_DIR: await dataDirectory(t)});
	const [, url = ''] = await printed(ready);
	await printed(/npx oplink status/);
	const [, key = ''] = /Bearer (opl_api_\S+)'/.exec(stdout()) ?? [];
	const {hostname, port} = new URL(url);
	const half = request({
		hostname,
		port,
		method: 'POST',
		path: '/links',
		headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', Expect: '100-continue'},
	});
	const answered = once(half, 'response') as Promise<[IncomingMessage]>;
	half.flushHeaders();
	// The server asks for the body, so the request is under way.
	await once(half, 'continue');
	half.write('{"path":');
	child.kill('SIGINT');
	await printed(/stopping/);
	child.kill('SIGINT');
	const refused = async () =>
		send(url, 'GET', '/health/live').then(
			() => false,
			() => true,
		);
	while (!(await refused())) {
		await new Promise((resolve) => setImmediate(resolve));
	}

	half.end('"/late"}');
	const [response] = await answered;
	t.is(response.statusCode, 201);
	t.is(response.headers.connection, 'close');
	response.resume();
	t.is(await ended, 0);
});

test('a port in use ends the start before the database is touched', async (t) => {
	const directory = await dataDirectory(t);
	const first = oplink(t, ['serve'], {PORT: '0', DATA_DIR: directory});
	const [, url = ''] = await first.printed(ready);
	const other = await dataDirectory(t);
	const second = oplink(t, ['serve'], {PORT: new URL(url).port, DATA_DIR: other});
	t.is(await second.ended, 1);
	t.regex(second.stderr(), /EADDRINUSE|in use/);
	await t.throwsAsync(stat(path.join(other, 'postgres')), {code: 'ENOENT'});
	first.child.kill('SIGTERM');
	await first.ended;
});

/** Has the process warn at a signal, as Node and packages do when they please. */
const preload = `data:text/javascript,process.on('SIGUSR2',()=>process.emitWarning('old%20ways',{code:'OLD'}))`;

test('a process warning is a log line like any other, and the server keeps running', async (t) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const {child, ended, printed, stderr} = oplink(t, ['serve'], {
		PORT: '0',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
		NODE_OPTIONS: `--import=${preload}`,
	});
	const [, url = ''] = await printed(ready);
	child.kill('SIGUSR2');
	await printed(/a warning of the process/);
	t.is((await send(url, 'GET', '/health/live')).status, 200);
	child.kill('SIGTERM');
	t.is(await ended, 0);

	const lines = stderr()
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	const warnings = lines.filter(({msg}) => msg === 'a warning of the process');
	t.is(warnings.length, 1);
	const [{level, err}] = warnings;
	t.like({level, ...err}, {level: 'warn', message: 'old ways', code: 'OLD'});
});
