import {fork} from 'node:child_process';
import {once} from 'node:events';
import {readFile, rm, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {PassThrough} from 'node:stream';
import test from 'ava';
import {pino} from 'pino';
import {chooseUser, clusterIdentity, isRoot} from '../../src/embedded/identity.ts';
import {startEmbeddedPostgres} from '../../src/embedded/postgres.ts';
import {createDataDirs, hold, query, readNotes, running, silent, start, writeNote} from './_clusters.ts';
import type {StrangerMessage} from './_stranger.ts';

const dataDirs = createDataDirs();
test.before(dataDirs.make);
test.after.always(dataDirs.remove);

const fileOf = (dataDir: string) => path.join(dataDir, 'postgres-password');
const program = path.join(path.dirname(process.env['TEST_BINARY'] ?? ''), '../test/embedded/_stranger.js');

test('another process of the user that PostgreSQL runs as cannot log in', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const {connectionString, directory} = await start(t, {dataDir});
	const {uid, gid} = await clusterIdentity(directory);
	const identity = uid === undefined ? [] : [String(uid), String(gid)];
	const stranger = fork(program, [connectionString, fileOf(dataDir), ...identity]);
	const ended = once(stranger, 'exit').then(() => Promise.reject(new Error('the stranger ended without a message')));
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

test('a server and a command in other processes read the password that the first start made', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const server = await hold(t, dataDir);
	await writeNote(running(server).connectionString);
	const command = await hold(t, dataDir, 'user');
	t.deepEqual(await readNotes(running(command).connectionString), [{text: 'kept'}]);
	await command.end('SIGTERM');
	await server.end('SIGTERM');
	t.deepEqual(await readNotes((await start(t, {dataDir})).connectionString), [{text: 'kept'}]);
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
	t.deepEqual(await query((await start(t, {dataDir})).connectionString, 'select 1 one'), [{one: 1}]);
});

const passwd = {
	root: 'root:x:0:0:root:/root:/bin/bash',
	postgres: 'postgres:x:101:104:PostgreSQL,,,:/var/lib/postgresql:/bin/bash',
	oplink: 'oplink:x:998:997::/var/lib/oplink:/usr/sbin/nologin',
};

for (const [title, lines, expected] of [
	['oplink where there is one', [passwd.root, passwd.postgres, passwd.oplink], {uid: 998, gid: 997}],
	['postgres where there is no oplink', [passwd.root, passwd.postgres], {uid: 101, gid: 104}],
	['nobody where there is neither', [passwd.root], {uid: 65_534, gid: 65_534}],
	['nobody where oplink is root by another name', ['oplink:x:0:0::/:/bin/sh'], {uid: 65_534, gid: 65_534}],
] as const) {
	test(`a new database of root belongs to ${title}`, (t) => {
		t.deepEqual(chooseUser(`${lines.join('\n')}\n`), expected);
	});
}
