import {once} from 'node:events';
import {readFile, stat, writeFile} from 'node:fs/promises';
import {type IncomingMessage, request} from 'node:http';
import {createServer} from 'node:net';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {chooseServer} from '../../../src/cli/server/connection.ts';
import {send} from '../../helpers/callers.ts';
import {databaseOf} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {listening} from '../../visits/clicks/_process.ts';

type Program = ReturnType<typeof oplink>;

/** Ctrl-C, which npm passes on a second time, during a request: it finishes, and no new one is accepted. */
const interrupt = async (t: ExecutionContext, {child, ended, printed}: Program, url: string, headers: object) => {
	const {hostname, port} = new URL(url);
	const asking = {...headers, Expect: '100-continue'};
	const half = request({hostname, port, method: 'POST', path: '/links', headers: asking});
	const answered = once(half, 'response') as Promise<[IncomingMessage]>;
	half.flushHeaders();
	// The server asks for the body, so the request is under way.
	await once(half, 'continue');
	half.write('{"path":');
	child.kill('SIGINT');
	await printed(/stopping/);
	child.kill('SIGINT');
	while ((await send(url, 'GET', '/health/live').catch(() => null)) !== null) {
		await new Promise((resolve) => setImmediate(resolve));
	}

	half.end('"/late"}');
	const [response] = await answered;
	t.deepEqual([response.statusCode, response.headers.connection], [201, 'close']);
	response.resume();
	t.is(await ended, 0);
};

test('a first start prints a link, its QR code and curl lines that work; it is graceful, Ctrl-C lets requests finish, and a second start brings it back', async (t) => {
	const env = {PORT: '0', DATA_DIR: await dataDirectory(t)};
	const first = oplink(t, ['serve'], env);
	const [, url = ''] = await first.printed(ready);
	const [, link = ''] = await first.printed(/demo organization \S+: (\S+)/);
	await first.printed(/npx oplink status/);
	t.regex(first.stdout(), /[█▀▄]{5}/);
	t.regex(
		first.stdout(),
		/opens on this machine alone\. .*\n {2}HOST=0\.0\.0\.0 PUBLIC_URL=http:\/\/\S+:\d+ LINK_DOMAIN=/,
	);
	t.regex(first.stdout(), /The demo app is in no store: its page's store buttons lead nowhere/);
	const [, key = ''] = /Bearer (opl_api_\S+)'/.exec(first.stdout()) ?? [];
	const {pathname} = new URL(link);
	t.is((await send(url, 'GET', '/health/ready')).status, 200);
	t.is((await send(url, 'GET', pathname)).status, 200);
	t.is((await send(url, 'GET', `${pathname}/data`)).body.path, '/hello');
	const headers = {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'};
	const created = await send(url, 'POST', '/links', headers, '{"path": "/product/42", "title": "Red shoes"}');
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

	// Of an address that a phone reaches, every start shows the code.
	const third = oplink(t, ['serve'], {...env, LINK_DOMAIN: '192.0.2.1:3000', LINK_SCHEME: 'http'});
	const [, again = ''] = await third.printed(ready);
	await third.printed(/Its API keys/);
	t.false(third.stdout().includes('opl_api_'));
	t.regex(third.stdout(), /[█▀▄]{5}/);
	t.notRegex(third.stdout(), /this machine alone/);
	t.is((await send(again, 'GET', `/links/${created.body.id}`, headers)).status, 200);
	third.child.kill('SIGKILL');
	await third.ended;

	const fourth = oplink(t, ['serve'], env);
	const [, last = ''] = await fourth.printed(ready);
	t.is((await send(last, 'GET', new URL(created.body.url).pathname)).status, 200);
	await interrupt(t, fourth, last, headers);
});

test('an invalid configuration ends the start with 78 and a line for each fault', async (t) => {
	const {ended, stderr} = oplink(t, ['serve'], {PORT: 'x', LOG_LEVEL: 'loud', DATA_DIR: await dataDirectory(t)});
	t.is(await ended, 78);
	const lines = stderr().trim().split('\n');
	t.true(lines.some((line) => line.includes('PORT')));
	t.true(lines.some((line) => line.includes('LOG_LEVEL')));
});

for (const WORKERS of ['1', '2']) {
	test(`an unusable list of LINK_POLICY_FILE ends the start with 78 and its name, with WORKERS=${WORKERS}`, async (t) => {
		const database = await databaseOf(t);
		const DATA_DIR = await dataDirectory(t);
		const LINK_POLICY_FILE = path.join(DATA_DIR, 'policy.json');
		const list = {name: 'Phishing', file: 'missing.txt', format: 'hosts', action: 'block'};
		await writeFile(LINK_POLICY_FILE, JSON.stringify([list]));
		const env = {PORT: '0', WORKERS, DATA_DIR, DATABASE_URL: database.url, LINK_POLICY_FILE};
		const {ended, stderr} = oplink(t, ['serve'], env);
		t.is(await ended, 78, stderr());
		t.regex(stderr(), /^LINK_POLICY_FILE could not be used: the list Phishing \(.*missing\.txt\) ENOENT/m);
	});
}

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

test('a port in use ends the start before the database is touched', async (t) => {
	const env = {PORT: String(await listening(t, createServer())), DATA_DIR: await dataDirectory(t)};
	const {ended, stderr} = oplink(t, ['serve'], env);
	t.is(await ended, 1);
	t.regex(stderr(), /EADDRINUSE|in use/);
	await t.throwsAsync(stat(path.join(env.DATA_DIR, 'postgres')), {code: 'ENOENT'});
});

test('a HOST that has no address ends the start with 78 and its name', async (t) => {
	const {ended, stderr} = oplink(t, ['serve'], {PORT: '0', HOST: 'nothing.invalid', DATA_DIR: await dataDirectory(t)});
	t.is(await ended, 78);
	t.regex(stderr(), /^HOST has no address \(getaddrinfo \w+ nothing\.invalid\): set it to/m);
});

test('DATA_DIR is private whatever the umask is, and has the address of each of its servers, the newest first', async (t) => {
	const database = await databaseOf(t);
	const DATA_DIR = path.join(await dataDirectory(t), 'new', 'data');
	const env = {PORT: '0', DATA_DIR, DATABASE_URL: database.url};
	const addresses = () => readFile(path.join(DATA_DIR, 'address'), 'utf8');
	const served = async () => {
		const program = oplink(t, ['serve'], env, {umask: '000'});
		const [, url = ''] = await program.printed(ready);
		return {...program, line: `${url.replace('localhost', '127.0.0.1')}\n`};
	};
	const first = await served();
	t.is((await stat(DATA_DIR)).mode & 0o777, process.getuid?.() === 0 ? 0o711 : 0o700);
	t.is((await stat(path.join(DATA_DIR, 'address'))).mode & 0o022, 0);
	const second = await served();
	t.is(await addresses(), `${second.line}${first.line}`);
	t.is(chooseServer({}, {env: {DATA_DIR}, cwd: '/'} as never).baseUrl, second.line.trim());
	second.child.kill('SIGTERM');
	t.is(await second.ended, 0);
	t.is(await addresses(), first.line);

	first.child.kill('SIGKILL');
	await first.ended;
	const third = await served();
	t.is(await addresses(), third.line);
	third.child.kill('SIGTERM');
	t.is(await third.ended, 0);
	await t.throwsAsync(addresses, {code: 'ENOENT'});
});
