import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmod, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {send} from '../helpers/callers.ts';
import {dataDirectory, oplink, ready, sentencesOf} from '../helpers/process.ts';
import {startedFor} from '../helpers/started.ts';
import {freePort} from '../setup/free-port.ts';
import {startOddServer} from './_odd-server.ts';

const pgbouncer = ['pgbouncer', '/usr/sbin/pgbouncer'].find((command) => {
	try {
		execFileSync(command, ['--version'], {stdio: 'ignore'});
		return true;
	} catch {
		return false;
	}
});
const withPooler = pgbouncer === undefined ? test.skip : test;

const server = startedFor(test, () => startOddServer());

const listens = (port: number): Promise<boolean> =>
	new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1', () => {
			socket.destroy();
			resolve(true);
		}).on('error', () => resolve(false));
	});

/** A PgBouncer with default settings except the given ones. @returns the address of a new database through it. */
const pooled = async (t: ExecutionContext, database: string, settings: Record<string, string>): Promise<string> => {
	await server.run(`CREATE DATABASE ${database}`);
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-pooler-'));
	await chmod(folder, 0o755);
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	const port = await freePort();
	const users = path.join(folder, 'users');
	await writeFile(users, '"admin" "password"\n', {mode: 0o644});
	const all = {
		listen_addr: '127.0.0.1',
		listen_port: String(port),
		unix_socket_dir: '',
		auth_type: 'scram-sha-256',
		auth_file: users,
		...settings,
	};
	const file = path.join(folder, 'pgbouncer.ini');
	const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
	await writeFile(file, `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\n`);
	const child = spawn(pgbouncer ?? '', [file], {
		// It refuses to run as root.
		...(process.getuid?.() === 0 ? {uid: 65_534, gid: 65_534} : {}),
		stdio: 'ignore',
	});
	t.teardown(async () => {
		const ended = once(child, 'exit');
		child.kill('SIGKILL');
		await ended;
	});
	while (!(await listens(port))) {
		if (child.exitCode !== null) {
			throw new Error(`pgbouncer ended with ${child.exitCode}`);
		}
	}

	return `postgres://admin:password@127.0.0.1:${port}/${database}`;
};

const environment = async (t: ExecutionContext, url: string) => ({
	DATABASE_URL: url,
	PORT: '0',
	DATA_DIR: await dataDirectory(t),
	ADMIN_TOKEN: 'x'.repeat(32),
	LOG_FORMAT: 'json',
});

withPooler('through PgBouncer with its defaults a server becomes ready and works (needs pgbouncer)', async (t) => {
	const url = await pooled(t, 'defaults', {});
	const {printed, child, ended, stderr} = oplink(t, ['serve'], await environment(t, url));
	const [, address = ''] = await printed(ready);
	t.is((await send(address, 'GET', '/health/ready')).status, 200);
	const operator = {Authorization: `Bearer ${'x'.repeat(32)}`, 'Content-Type': 'application/json'};
	for (const name of ['One', 'Two', 'Three']) {
		t.is((await send(address, 'POST', '/admin/organizations', operator, JSON.stringify({name}))).status, 201);
	}

	const {findings} = (await send(address, 'GET', '/admin/doctor', operator)).body;
	t.is(findings.find(({check}: {check: string}) => check === 'database.pooler').status, 'ok');
	t.notRegex(stderr(), /"level":"(error|fatal)"/);
	child.kill('SIGTERM');
	t.is(await ended, 0);
});

for (const mode of ['transaction', 'statement']) {
	withPooler(`PgBouncer in ${mode} mode ends a start with 78 and says what to set (needs pgbouncer)`, async (t) => {
		const env = await environment(t, await pooled(t, mode, {pool_mode: mode}));
		for (const argv of [['serve'], ['migrate', 'up']]) {
			const {ended, stderr} = oplink(t, argv, env);
			t.is(await ended, 78, stderr());
			const lines = sentencesOf(stderr());
			t.is(lines.length, 1);
			t.regex(
				lines[0] ?? '',
				/^DATABASE_URL: a pooler in front of PostgreSQL .*Set pool_mode = session for this database/,
			);
		}
	});
}
