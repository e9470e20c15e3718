import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {cp, readFile, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import {Client} from 'pg';
import pino from 'pino';
import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {waitForServer} from '../../src/platform/db/open-database.ts';
import {packageRoot} from '../../src/platform/package-root.ts';
import {databaseOf} from '../helpers/database.ts';
import {folderOf} from '../helpers/folder.ts';
import {binary} from '../helpers/process.ts';
import {closedAddress, startRecordingServer} from './_recording-server.ts';
import {createSink, ends, runCli} from './_run-cli.ts';
import {finish, type Program, start} from './_spawn-cli.ts';

test('the program succeeds with help and ends with 2 for an unknown command', async (t) => {
	ends(t, await finish(start(t, [])), 0, {stdout: /^Usage: oplink/});
	ends(t, await finish(start(t, 'orsg')), 2, {stderr: /Did you mean orgs\?/});
});

test('a Node.js that is too old is refused by its version before anything is loaded', async (t) => {
	const folder = await folderOf(t);
	// Nothing of the program is there to be loaded.
	await cp(path.join(packageRoot, 'bin'), path.join(folder, 'bin'), {recursive: true});

	for (const [version, output] of [
		[
			'18.19.0',
			/^Error: Oplink needs Node\.js 20\.19 or later, this is 18\.19\.0\nNext: Install one, such as from https:/,
		],
		['20.18.3', /this is 20\.18\.3\n/],
		['20.19.0', /Cannot find module '\.\.\/dist\/cli\/main\.cjs'/],
		['100.0.0', /Cannot find module/],
	] as const) {
		const preload = path.join(folder, `${version}.cjs`);
		await writeFile(preload, `Object.defineProperty(process, 'versions', {value: {node: '${version}'}})`);
		const child = spawnSync(process.execPath, ['--require', preload, path.join(folder, 'bin/oplink.js'), 'help']);
		t.is(child.status, 1, version);
		t.regex(String(child.stderr), output);
	}
});

test('npm installs on each Node.js that README names, and refuses older ones', (t) => {
	const {satisfies} = createRequire(import.meta.url)('semver') as {satisfies(version: string, range: string): boolean};
	const read = (file: string) => readFileSync(path.join(packageRoot, file), 'utf8');
	t.regex(read('.npmrc'), /^engine-strict=true$/m);
	const [, named = ''] = /Node\.js on Debian or a derivative: ([\d., ]+) or later/.exec(read('README.md')) ?? [];
	const versions = named.split(', ').map((version) => `${version}.0`);
	t.true(versions.length >= 3);
	const {packages} = JSON.parse(read('package-lock.json')) as {packages: Record<string, {engines?: {node?: string}}>};
	const refusing = Object.entries(packages).flatMap(([name, {engines}]) =>
		[...versions, '26.0.0']
			.filter((version) => !satisfies(version, engines?.node ?? '*'))
			.map((version) => [name, version]),
	);
	t.deepEqual(refusing, []);
	// The same version as bin/oplink.js refuses.
	t.is(packages['']?.engines?.node, '>=20.19');
});

test('a closed pipe ends the program quietly', async (t) => {
	const lines = `${JSON.stringify({path: '/x'.repeat(500)})}\n`.repeat(5000);
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links/export': {body: Buffer.from(lines)},
	});
	const child = start(t, 'links export --org Ab12', env);
	child.stdout.once('data', () => child.stdout.destroy());
	const [[exitCode], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
	t.is(exitCode, 0);
	t.is(stderr, '');
});

test('output that a full disk loses is a failure, with a message', (t) => {
	for (const word of ['help', 'config']) {
		const child = spawnSync('sh', ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, binary, word]);
		t.is(child.status, 1);
		t.regex(String(child.stderr), /^Error: No space is left for the file\nNext: Free some/);
	}
});

test('Ctrl-C ends a command with 130', async (t) => {
	const child: {process?: Program} = {};
	const {env} = await startRecordingServer(t, {'GET /admin/status': {raw: () => void child.process?.kill('SIGINT')}});
	child.process = start(t, 'status', env);
	ends(t, await finish(child.process), 130, {stderr: 'Interrupted\n'});
});

const databaseEnv = async (t: ExecutionContext): Promise<Record<string, string>> => {
	const database = await databaseOf(t);
	return {DATABASE_URL: database.url};
};

test('Ctrl-C ends a start that waits for its database', async (t) => {
	const child = start(t, 'serve', {DATABASE_URL: closedAddress.replace('http', 'postgres'), PORT: '0'});
	await once(child.stderr, 'data');
	child.kill('SIGINT');
	ends(t, await finish(child), 130, {stderr: /"signal":"SIGINT","msg":"stopped before it was ready"\}\n$/});
});

test('a start that waits for its database says so at once, and then every ten seconds', async (t) => {
	const db = createDb(closedAddress.replace('http', 'postgres'));
	t.teardown(() => closeDb(db));
	const {stream, text} = createSink();
	let time = 0;
	const pause = async (milliseconds: number) => {
		t.is(milliseconds, 500);
		// A refusal takes its time, too.
		time += 2500;
	};
	await t.throwsAsync(waitForServer(db, pino(stream), {now: () => time, pause}), {code: 'ECONNREFUSED'});
	t.is(time, 32_500);
	t.is(text().match(/the database does not answer yet/g)?.length, 4);
});

test('migrate goes down and up again, one migration after the other', async (t) => {
	const env = await databaseEnv(t);
	const states = async (): Promise<Array<{name: string; appliedAt: string | null}>> =>
		JSON.parse((await runCli('migrate status --json', {env})).stdout);
	const pending = async () => (await states()).flatMap(({name, appliedAt}) => (appliedAt === null ? [name] : []));
	const last = (await states()).at(-1)?.name;
	t.deepEqual(await pending(), []);
	t.is((await runCli('migrate up', {env})).stdout, 'Nothing to do: every migration is applied\n');

	ends(t, await runCli('migrate down --yes --json', {env}), 0, {json: {undone: last}});
	t.deepEqual(await pending(), [last]);
	t.regex((await runCli('migrate status', {env})).stdout, new RegExp(`^${last} +pending$`, 'm'));

	ends(t, await runCli('migrate up --json', {env}), 0, {json: {applied: [last]}});
	t.deepEqual(await pending(), []);
});

test('a database of a newer version is refused by name, and not changed', async (t) => {
	const env = await databaseEnv(t);
	const client = new Client({connectionString: env['DATABASE_URL']});
	await client.connect();
	await client.query("INSERT INTO migrations (name) VALUES ('29990101000000_later')");
	await client.end();
	for (const line of ['migrate up', 'migrate down --yes']) {
		ends(t, await runCli(line, {env}), 78, {
			stderr: /^The database has migrations that this version of Oplink does not know \(29990101000000_later\)/,
		});
	}

	ends(t, await finish(start(t, 'serve', {...env, PORT: '0'})), 78);
	t.regex((await runCli('migrate status', {env})).stdout, /^29990101000000_later +by a newer version of oplink$/m);
	const {findings} = JSON.parse((await runCli('doctor --json', {env: {...env, OPLINK_URL: closedAddress}})).stdout);
	const found = findings.find(({check}: {check: string}) => check === 'database.migrations');
	t.like(found, {
		status: 'fail',
		message: 'this version lacks 1 migration of the database and would not start again: 29990101000000_later',
	});
});

test('config lists every variable with secrets masked', async (t) => {
	const env = {ADMIN_TOKEN: 'a-secret-that-nobody-may-see-here', PUBLIC_URL: 'https://links.example.com'};
	const plain = ends(t, await runCli('config', {env}), 0, {
		stdout: [/^PUBLIC_URL +https:\/\/links\.example\.com /m, /^ADMIN_TOKEN +\*+ /m],
	});
	t.false(plain.stdout.includes('a-secret'));
	t.regex(plain.stdout, /^PORT +\(3000\) +port to listen on/m);
	t.is(plain.stderr, '');
	const terminal = createSink();
	const narrow = {stdout: Object.assign(terminal.stream, {isTTY: true, columns: 80})};
	t.regex((await runCli('config', {env, io: narrow})).stderr, /oplink help environment/);
	t.false(terminal.text().includes('…'));
	const variables: Array<{name: string; value: string | null}> = JSON.parse(
		(await runCli('config --json', {env})).stdout,
	);
	t.is(variables.find(({name}) => name === 'PUBLIC_URL')?.value, 'https://links.example.com');
});

test('config reports faults after the table, and ends with 78', async (t) => {
	ends(t, await runCli('config', {env: {PORT: 'many'}}), 78, {stdout: /^PORT +many /m, stderr: /^PORT must be/});
});

test('serve answers until Ctrl-C and ends with 0', async (t) => {
	const env = await databaseEnv(t);
	const child = start(t, 'serve', {...env, PORT: '0', ADMIN_TOKEN: 'x'.repeat(32), LOG_LEVEL: 'warn'});
	const [greeting] = (await once(child.stdout, 'data')) as [Buffer];
	const url = /http:\S+/.exec(String(greeting))?.[0];
	t.truthy(url);
	const {stdout} = ends(t, await runCli(['status', '--url', String(url), '--token', 'x'.repeat(32), '--json']), 0);
	t.is(JSON.parse(stdout).status, 'ok');
	child.kill('SIGINT');
	t.is((await finish(child)).exitCode, 0);
});

test('npm start and npm run migrate read .env of their folder, which a variable that is set wins over', async (t) => {
	const {scripts} = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8'));
	const folder = await folderOf(t);
	await writeFile(path.join(folder, '.env'), 'DATABASE_URL=nonsense\nLOG_LEVEL=nonsense\n');
	for (const name of ['start', 'migrate']) {
		const line = String(scripts[name]).replace('bin/oplink.js', binary);
		t.not(line, scripts[name]);
		const env = {PATH: process.env['PATH'], LOG_LEVEL: 'info'};
		const {exitCode, stderr} = await finish(spawn('sh', ['-c', line], {cwd: folder, env}));
		t.is(exitCode, 78, stderr);
		t.regex(stderr, /DATABASE_URL/);
		t.notRegex(stderr, /LOG_LEVEL/);
	}
});
