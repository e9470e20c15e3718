import {fork, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFile, rm, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {PassThrough} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {pino} from 'pino';
import {prepareBinaries} from '../../../src/platform/embedded/binaries.ts';
import {chooseUser, clusterIdentity, isRoot} from '../../../src/platform/embedded/location.ts';
import {disownLockFile} from '../../../src/platform/embedded/lock-file.ts';
import {startEmbeddedPostgres} from '../../../src/platform/embedded/postgres.ts';
import {
	assertAnswers,
	assertKept,
	assertKeptIn,
	dataDirsOf,
	end,
	hold,
	running,
	silent,
	start,
	temporaryFolder,
	writeNote,
} from './_clusters.ts';
import type {StrangerMessage} from './_stranger.ts';

const dataDirs = dataDirsOf(test);

const untilSaid = async (lines: AsyncIterable<unknown>, text: string): Promise<void> => {
	for await (const line of lines) {
		if (String(line).includes(text)) {
			return;
		}
	}
};

/** A process that serves a database, with a note. */
const holdNote = async (t: ExecutionContext) => {
	const dataDir = await dataDirs.copy(t);
	const holder = await hold(t, dataDir);
	await writeNote(running(holder).connectionString);
	return {dataDir, holder};
};

test('after kill -9 of the server the next start has all data', async (t) => {
	const {dataDir, holder} = await holdNote(t);
	await holder.end('SIGKILL');
	await assertKeptIn(t, dataDir);
});

test('after kill -9 of the server and of PostgreSQL the next start recovers all data', async (t) => {
	const {dataDir, holder} = await holdNote(t);
	process.kill(running(holder).postgres, 'SIGKILL');
	await holder.end('SIGKILL');
	await assertKeptIn(t, dataDir);
});

test('a killed PostgreSQL comes back at the same address, with all data', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const lines = new PassThrough();
	const server = await start(t, {dataDir, log: pino(lines)});
	await writeNote(server.connectionString);
	const before = server.pid();
	process.kill(before, 'SIGKILL');
	await untilSaid(lines, 'is back');
	t.not(server.pid(), before);
	await assertKept(t, server.connectionString);
	await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {name: 'DataDirInUseError'});
});

test('a PostgreSQL that runs on without a server is adopted by the next start and stopped with it', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const directory = path.join(dataDir, 'postgres');
	const identity = await clusterIdentity(directory);
	const {postgres} = await prepareBinaries(identity, dataDir);
	const orphan = spawn(
		postgres,
		['-D', directory, '-c', 'listen_addresses=', '-c', `unix_socket_directories=${directory}`],
		{...identity, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], detached: true},
	);
	const exited = once(orphan, 'exit');
	await untilSaid(orphan.stderr, 'ready to accept connections');
	const second = await startEmbeddedPostgres({dataDir, log: silent});
	t.is(second.pid(), orphan.pid ?? Number.NaN);
	await assertKept(t, second.connectionString, 'first');
	await second.stop();
	t.deepEqual(await exited, [0, null]);
});

test('a lock file whose pid now belongs to another process does not keep the database from starting', async (t) => {
	const {dataDir, holder} = await holdNote(t);
	const {postgres, directory} = running(holder);
	process.kill(postgres, 'SIGKILL');
	await holder.end('SIGKILL');
	const bystander = spawn('/bin/sh', ['-c', 'echo ready; read -r never'], {
		...(await clusterIdentity(directory)),
		cwd: '/',
	});
	t.teardown(() => end(bystander, 'SIGKILL'));
	await once(bystander.stdout, 'data');
	for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
		const file = path.join(directory, name);
		const text = await readFile(file, 'utf8');
		await writeFile(file, text.replace(/^\d+/, String(bystander.pid)));
	}

	await assertKeptIn(t, dataDir);
	t.is(bystander.exitCode, null);
});

test('the lock file of a dead database names no process, as the next one may get its pid', async (t) => {
	const dead = spawn('/bin/true');
	await once(dead, 'exit');
	const file = path.join(await temporaryFolder(t), 'postmaster.pid');
	const rest = '/data/postgres\n1764000000\n5432\n/data/postgres\n\n 16777219 0\nready\n';
	await writeFile(file, `${dead.pid}\n${rest}`);
	await disownLockFile(file, '/data/postgres');
	t.is(await readFile(file, 'utf8'), `4194304\n${rest}`);
});

const fileOf = (dataDir: string) => path.join(dataDir, 'postgres-password');
const program = path.join(path.dirname(process.env['TEST_BINARY'] ?? ''), '../test/platform/embedded/_stranger.js');

test('another process of the user that PostgreSQL runs as cannot log in', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const {connectionString, directory} = await start(t, {dataDir});
	const {uid, gid} = await clusterIdentity(directory);
	const identity = uid === undefined ? [] : [String(uid), String(gid)];
	const stranger = fork(program, [connectionString, fileOf(dataDir), ...identity]);
	// Its exit may be noticed before its message, which the channel holds.
	const ended = once(stranger, 'disconnect').then(() =>
		Promise.reject(new Error('the stranger ended without a message')),
	);
	ended.catch(() => {});
	const [message] = (await Promise.race([once(stranger, 'message'), ended])) as [StrangerMessage];
	t.regex(message.withoutPassword, /password must be a string/);
	t.is(message.wrongPassword, '28P01');
	t.is(message.passwordFile, isRoot() ? 'EACCES' : 'done');
});

test('each DATA_DIR has its own password, which only its owner can read and no log line contains', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const lines = new PassThrough();
	const server = await startEmbeddedPostgres({dataDir, log: pino({level: 'trace'}, lines)});
	const password = (await readFile(fileOf(dataDir), 'utf8')).trim();
	const {mode, uid} = await stat(fileOf(dataDir));
	t.deepEqual([mode & 0o777, uid], [0o600, process.getuid?.()]);
	t.is(password.length, 43);
	t.is(new URL(server.connectionString).searchParams.get('password'), password);
	await server.stop();
	const logged = String(lines.read()) + (await readFile(path.join(server.directory, 'postgres.log'), 'utf8'));
	t.regex(logged, /embedded PostgreSQL stopped/);
	t.false(logged.includes(password));
});

test('a password that is missing or of another database is refused with the path of its file', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const file = fileOf(dataDir);
	const password = await readFile(file, 'utf8');
	await writeFile(file, 'of-another-database\n');
	const message = new RegExp(`^The database refuses the password in ${file}`);
	await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {name: 'EmbeddedPostgresError', message});
	await rm(file);
	const missing = new RegExp(`^${file} with the password of the database is missing`);
	await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {name: 'EmbeddedPostgresError', message: missing});
	await writeFile(file, password);
	await assertAnswers(t, (await start(t, {dataDir})).connectionString);
});

const passwd = {
	root: 'root:x:0:0:root:/root:/bin/bash',
	postgres: 'postgres:x:101:104:PostgreSQL,,,:/var/lib/postgresql:/bin/bash',
	oplink: 'oplink:x:998:997::/var/lib/oplink:/usr/sbin/nologin',
};

test('a new database of root belongs to oplink, else to postgres, else to nobody, and never to root', (t) => {
	const owner = (...lines: string[]) => chooseUser(`${lines.join('\n')}\n`);
	const nobody = {uid: 65_534, gid: 65_534};
	t.deepEqual(owner(passwd.root, passwd.postgres, passwd.oplink), {uid: 998, gid: 997});
	t.deepEqual(owner(passwd.root, passwd.postgres), {uid: 101, gid: 104});
	t.deepEqual(owner(passwd.root), nobody);
	t.deepEqual(owner('oplink:x:0:0::/:/bin/sh'), nobody);
});
