import {spawnSync} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {lstat, readdir, readFile, rm, stat, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import {gunzipSync} from 'node:zlib';
import test, {type ExecutionContext} from 'ava';
import type {Db} from '../../src/platform/db/db.ts';
import {packageVersion} from '../../src/platform/package-root.ts';
import {admin, type Caller, withKey} from '../helpers/callers.ts';
import {folderOf} from '../helpers/folder.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {startedIn} from '../helpers/started.ts';
import {network, visit} from '../visits/matches/_phones.ts';
import {backedUp, keyed, keyedBody, setUpRestore} from './_backup.ts';
import {contents} from './_contents.ts';
import {createTerminal} from './_fake-terminal.ts';
import {createSink, ends, runCli, runOnScreen} from './_run-cli.ts';
import {finish, start} from './_spawn-cli.ts';

const given = backedUp(test);

const setUp = (t: ExecutionContext, template?: 'template0') => setUpRestore(t, given.backup, template);

const inYear = '/stats?from=2026-01-01&to=2026-12-31';

/** What the operator and the machines of an organization read. */
const answers = async (
	service: Pick<TestService, 'url' | 'adminToken'>,
	{id, server}: {id: string; server: Caller},
) => {
	const operator = admin(service);
	const below = `/admin/organizations/${id}`;
	const paths = ['', '/links', '/links/export', '/api-keys', '/app-config', '/domains', '/templates', '/channels'];
	const more = [inYear, '/matches', '/audit-log?limit=100', '/devices/device-0001/data'];
	return [
		await operator.get('/admin/organizations'),
		...(await Promise.all([...paths, ...more].map((rest) => operator.get(`${below}${rest}`)))),
		await server.get('/links'),
		await server.post('/links', keyedBody, keyed),
	].map(({status, text}) => ({status, text: text.replaceAll(/localhost:\d+/g, 'HOST')}));
};

/** Read once: two tests that repeat its keyed create at one time would meet. */
let before: ReturnType<typeof answers> | null = null;
const answersBefore = () => {
	before ??= answers(given.service, given.acme);
	return before;
};

for (const [what, template] of [
	['a migrated database without rows', undefined],
	['a database without any table', 'template0'],
] as const) {
	test(`a restore into ${what} answers as before, continues counting, and accepts new rows`, async (t) => {
		const {service, acme} = given;
		const {database, env, file} = await setUp(t, template);
		const restored = ends(t, await finish(start(t, ['restore', file, '--json'], env)), 0);
		t.like(JSON.parse(restored.stdout), {migrated: []});
		t.true(JSON.parse(restored.stdout).rows > 20);
		const sameToken = {ADMIN_TOKEN: service.adminToken};
		const copy = await startedIn(t, startService(sameToken, service.clock, {...database, drop: async () => {}}));
		const server = withKey(copy, acme.serverKey);
		const expected = await answersBefore();
		t.deepEqual(await answers(copy, {...acme, server}), expected);
		t.true(expected.every(({status}) => status < 300));

		const made = await server.post('/links', {path: '/new'});
		t.is(made.status, 201);
		await visit(copy, made.body, network()(3));
		const totals = async (of: TestService) =>
			(await admin(of).get(`/admin/organizations/${acme.id}${inYear}`)).body.totals;
		const {clicks} = await totals(service);
		t.is((await totals(copy)).clicks, clicks + 1);
		const counted = await copy.services.db('click_counts').where({organization_id: acme.id}).sum('clicks');
		t.is(Number(counted[0]?.['sum']), clicks + 1);
	});
}

test('a backup is readable by its owner only, and contains plain lines', async (t) => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'oplink.backup');
	const {service, acme} = given;
	const env = {DATABASE_URL: service.databaseUrl};
	const {stdout, stderr} = ends(t, await finish(start(t, ['backup', file, '--json'], env)), 0);
	t.is((await stat(file)).mode & 0o777, 0o600);
	t.deepEqual(await readdir(folder), ['oplink.backup']);
	const lines = gunzipSync(await readFile(file))
		.toString()
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
	t.deepEqual(lines[0].slice(0, 2), ['oplink backup', 1]);
	t.deepEqual({file, ...lines.at(-1)[1]}, JSON.parse(stdout));
	const [, , columns] = lines.find((line) => line[0] === 'table' && line[1] === 'links');
	t.true(columns.includes('short_code'));
	t.false(stdout.includes(acme.serverKey) || stderr.includes(acme.serverKey));
});

test('a database with rows is not changed, unless --force replaces them all', async (t) => {
	const {db, restore} = await setUp(t);
	const {backup} = given;
	const now = new Date();
	const other = {id: randomUUID(), org_key: 'Zz99', name: 'Other', created_at: now, updated_at: now};
	await db('organizations').insert(other);
	const before = await contents(db);
	ends(t, await restore(backup), 5, {stderr: /^Error: The database is not empty: it has rows in .*organizations/});
	t.is((await restore(backup, '--force')).exitCode, 2);
	t.is((await restore(backup.subarray(0, 900), '--force', '--yes')).exitCode, 1);
	t.is(await contents(db), before);
	t.is((await restore(backup, '--force', '--yes')).exitCode, 0);
	t.deepEqual(await db('organizations').pluck('org_key'), [given.acme.orgKey]);
});

test('on a terminal --force says whose data goes, and an empty database is restored into without a question', async (t) => {
	const {database, env, file} = await setUp(t);
	const ask = async (argv: string[], keys: string) => {
		const terminal = createTerminal(keys);
		const {exitCode} = await runCli(argv, {env, io: terminal.io});
		return {exitCode, asked: terminal.text().replace(/\n +/g, ' ')};
	};
	t.deepEqual(await ask(['restore', file, '--force'], ''), {exitCode: 0, asked: ''});
	const kept = ends(t, await ask(['restore', file, '--force'], 'n\r'), 1);
	const place = `database ${new URL(database.url).pathname.slice(1)} of`;
	t.regex(kept.asked, new RegExp(`Replace all data in ${place} .+: 1 organization, 2 links, 2 clicks\\? \\[y/N\\]`));
	t.is((await ask(['restore', file, '--force'], 'y\r')).exitCode, 0);

	const down = ends(t, await ask(['migrate', 'down'], 'n\r'), 1);
	t.regex(down.asked, new RegExp(`Roll back \\d+_\\w+ in ${place} `));
});

test('backup check reads a backup without any database, also one called check', async (t) => {
	const folder = await folderOf(t);
	const env = {DATABASE_URL: 'nonsense', DATA_DIR: path.join(folder, 'data')};
	await writeFile(path.join(folder, 'check'), given.backup);
	const check = (line: string) => runCli(line, {env, io: {cwd: folder}});
	const {madeAt, rows, tables, ...rest} = JSON.parse(ends(t, await check('backup check ./check --json'), 0).stdout);
	const program = packageVersion();
	t.deepEqual(rest, {ok: true, file: './check', program, bytes: given.backup.length});
	ends(t, await check('backup check check'), 0, {
		stdout: `check: ${rows} rows of ${tables} tables, made on ${madeAt} by oplink ${program}; only a restore checks constraints\n`,
	});
	t.deepEqual(await readdir(folder), ['check']);
});

test('a backup whose bytes change on their way out is a failure', async (t) => {
	const stdout = createSink();
	const spoil = stdout.stream.write.bind(stdout.stream);
	stdout.stream.write = ((chunk: Buffer, ...rest: never[]) => {
		chunk[chunk.length - 6] = (chunk[chunk.length - 6] ?? 0) ^ 255;
		return spoil(chunk, ...rest);
	}) as typeof spoil;
	const {stream} = stdout;
	const made = await runCli('backup -', {env: {DATABASE_URL: given.service.databaseUrl}, io: {stdout: stream}});
	ends(t, made, 1, {stderr: /^Error: The backup is damaged or was altered/});
});

test('tables of somebody else in the schema are neither in a backup nor in the way of a restore', async (t) => {
	const {db, env} = await setUp(t);
	await db.raw('CREATE TABLE links_before_cleanup AS SELECT 1 AS id');
	const made = ends(t, await runCli('backup -', {env}), 0);
	t.false(gunzipSync(made.stdoutBytes).toString().includes('links_before_cleanup'));
	const {db: into, restore} = await setUp(t);
	await into.raw('CREATE TABLE spatial_ref_sys AS SELECT 1 AS srid');
	ends(t, await restore(made.stdoutBytes), 0);
	t.is((await into('spatial_ref_sys')).length, 1);
});

test('a restore that is killed leaves the database as it was', async (t) => {
	const {db, env} = await setUp(t);
	const before = await contents(db);
	const program = start(t, 'restore -', env);
	const ended = finish(program);
	program.stdin.write(given.backup.subarray(0, given.backup.length - 100));
	const isLoading = async () => {
		const {rows} = await db.raw(
			"SELECT FROM pg_locks WHERE relation = 'links'::regclass AND mode = 'AccessExclusiveLock' AND granted",
		);
		return rows.length > 0;
	};
	while (!(await isLoading())) {
		// Each turn is a query.
	}

	program.kill('SIGKILL');
	t.is((await ended).signal, 'SIGKILL');
	t.is(await contents(db), before);
});

test('a backup of an older version is migrated forward', async (t) => {
	const {db, env, restore} = await setUp(t);
	t.is((await restore(given.backup)).exitCode, 0);
	t.is((await runCli('migrate down --yes', {env})).exitCode, 0);
	const undone = JSON.parse((await runCli('migrate down --yes --json', {env})).stdout).undone;
	const older = await runCli('backup -', {env});
	const next = await setUp(t);
	const {migrated} = JSON.parse(ends(t, await next.restore(older.stdoutBytes, '--json'), 0).stdout);
	t.is(migrated[0], undone);
	t.is(migrated.length, 2);
	await runCli('migrate up', {env});
	const withoutTimes = async (of: Db) =>
		(await contents(of)).split('\n').filter((line) => !/migrat|^\(\d+,\d{14}_|^rollups/.test(line));
	t.deepEqual(await withoutTimes(next.db), await withoutTimes(db));
});

test('Ctrl-C ends a backup with 130 and leaves no file', async (t) => {
	const {db, env, folder, file} = await setUp(t);
	await rm(file);
	const interruption = new AbortController();
	const blocker = await db.transaction();
	await blocker.raw('LOCK TABLE organizations');
	const running = runCli(['backup', file], {env, io: {interruption: interruption.signal}});
	const isWaiting = async () =>
		(await db.raw("SELECT FROM pg_locks WHERE relation = 'organizations'::regclass AND NOT granted")).rows.length > 0;
	while (!(await isWaiting())) {
		// Each turn is a query.
	}

	t.is((await readdir(folder)).length, 1);
	interruption.abort();
	await blocker.rollback();
	t.is((await running).exitCode, 130);
	t.deepEqual(await readdir(folder), []);
});

test('a pipe closed before the backup is complete is a failure', async (t) => {
	const program = start(t, 'backup -', {DATABASE_URL: given.service.databaseUrl});
	program.stdout.destroy();
	const [[exitCode], stderr] = await Promise.all([once(program, 'exit'), text(program.stderr)]);
	t.is(exitCode, 1);
	t.is(stderr, 'Error: Standard output was closed before the backup was complete\n');
});

test('a backup is not written to a terminal', async (t) => {
	ends(t, await runOnScreen('backup -', {}), 2, {stdout: '', stderr: /binary and cannot be written to a terminal/});
});

test('a backup of a database without any table says that there is nothing to back up', async (t) => {
	const {env} = await setUp(t, 'template0');
	ends(t, await runCli('backup -', {env}), 1, {stderr: /^Error: There is nothing to back up/m});
});

test('no table counts by a sequence, which a restore would have to set', async (t) => {
	const {rows} = await given.service.services.db.raw(
		"SELECT relname FROM pg_class WHERE relkind = 'S' AND relname NOT LIKE 'migrations%'",
	);
	t.deepEqual(rows, []);
});

test('a backup follows links, also dangling ones, and asks before it replaces a file', async (t) => {
	const folder = await folderOf(t);
	const at = (name: string) => path.join(folder, name);
	const backUp = (...more: string[]) =>
		runCli(['backup', at('link'), ...more], {env: {DATABASE_URL: given.service.databaseUrl}});
	await symlink('new.backup', at('dangling'));
	await symlink('dangling', at('link'));
	ends(t, await backUp(), 0);
	t.true((await lstat(at('link'))).isSymbolicLink());
	t.true((await lstat(at('new.backup'))).isFile());

	const before = await readFile(at('new.backup'));
	ends(t, await backUp(), 2, {stderr: /--yes/});
	t.deepEqual(await readFile(at('new.backup')), before);
	t.is((await backUp('--yes')).exitCode, 0);
	t.true((await lstat(at('link'))).isSymbolicLink());
	t.deepEqual((await readdir(folder)).sort(), ['dangling', 'link', 'new.backup']);
});

test('a backup never replaces a device, pipe or folder', async (t) => {
	const folder = await folderOf(t);
	const env = {DATABASE_URL: given.service.databaseUrl};
	const pipe = path.join(folder, 'pipe');
	t.is(spawnSync('mkfifo', [pipe]).status, 0);
	// A link to the device, so that the device of the machine is out of reach.
	await symlink('/dev/full', path.join(folder, 'full'));
	for (const name of ['pipe', 'full', '.']) {
		ends(t, await runCli(['backup', path.join(folder, name), '--yes'], {env}), 1, {stderr: /is not a regular file/});
	}

	t.true((await lstat(pipe)).isFIFO());
	t.true((await lstat(path.join(folder, 'full'))).isSymbolicLink());
	t.deepEqual((await readdir(folder)).sort(), ['full', 'pipe']);
});
