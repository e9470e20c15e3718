import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmod, mkdtemp, readFile, rm, stat} from 'node:fs/promises';
import {type IncomingMessage, request} from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {packageRoot} from '../src/package-root.ts';
import {send} from './helpers/callers.ts';
import {createTestDatabase} from './helpers/database.ts';

/** The binary as a user starts it, with an environment of its own. */
const oplink = (t: ExecutionContext, args: string[], env: Record<string, string>) => {
	const child = spawn(process.execPath, [path.join(packageRoot, 'bin', 'oplink.js'), ...args], {
		env: {PATH: process.env.PATH, HOME: process.env.HOME, ...env},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	t.teardown(() => child.kill('SIGKILL'));
	let [stdout, stderr] = ['', ''];
	const waiting = new Set<() => void>();
	const note = () => {
		for (const check of waiting) {
			check();
		}
	};
	child.stdout.on('data', (chunk) => {
		stdout += chunk;
		note();
	});
	child.stderr.on('data', (chunk) => {
		stderr += chunk;
		note();
	});
	const ended = once(child, 'close').then(([code]) => {
		note();
		return code as number | null;
	});
	const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
		new Promise((resolve, reject) => {
			const check = () => {
				const found = pattern.exec(stdout);
				if (found !== null) {
					waiting.delete(check);
					resolve(found);
				} else if (child.exitCode !== null) {
					reject(new Error(`ended with ${child.exitCode}: ${stderr}`));
				}
			};
			waiting.add(check);
			check();
		});
	return {child: child as ChildProcess, ended, printed, stdout: () => stdout, stderr: () => stderr};
};

const dataDirectory = async (t: ExecutionContext): Promise<string> => {
	const directory = await mkdtemp(path.join(tmpdir(), 'oplink-serve-'));
	// As root the database belongs to nobody, who has to get there.
	await chmod(directory, 0o711);
	t.teardown(() => rm(directory, {recursive: true, force: true}));
	return directory;
};

const ready = /Oplink is ready at (\S+)/;

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
	t.false(first.stderr().includes(token) || first.stderr().includes(key));

	const second = oplink(t, ['serve'], env);
	t.is(await second.ended, 1);
	t.regex(second.stderr(), /^Error: DATA_DIR \S+ is in use by another Oplink server/m);
	t.notRegex(second.stderr(), /bug/);
	t.regex(second.stderr(), new RegExp(String(first.child.pid)));
	t.is((await send(url, 'GET', pathname)).status, 200);

	first.child.kill('SIGTERM');
	t.is(await first.ended, 0);

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

test('a wrong configuration ends the start with 78 and a line for each fault', async (t) => {
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

test('a stop lets a request that is under way finish, and takes no new one', async (t) => {
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
	child.kill('SIGTERM');
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

test('a port that is taken ends the start before the database is touched', async (t) => {
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
