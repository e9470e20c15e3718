import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdir, readFile, watch, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {PassThrough} from 'node:stream';
import test from 'ava';
import {pino} from 'pino';
import {prepareBinaries} from '../../src/embedded/binaries.ts';
import {clusterIdentity} from '../../src/embedded/identity.ts';
import {startEmbeddedPostgres} from '../../src/embedded/postgres.ts';
import {
	createDataDirs,
	end,
	forkHolder,
	hold,
	readNotes,
	running,
	silent,
	start,
	temporaryFolder,
	writeNote,
} from './_clusters.ts';

const dataDirs = createDataDirs();
test.serial.before(dataDirs.make);
test.after.always(dataDirs.remove);

test('after kill -9 of the server the next start has all data', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const killed = await hold(t, dataDir);
	await writeNote(running(killed).connectionString);
	await killed.end('SIGKILL');

	const {connectionString} = await start(t, {dataDir});
	t.deepEqual(await readNotes(connectionString), [{text: 'kept'}]);
});

test('after kill -9 of the server and of PostgreSQL the next start recovers all data', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const killed = await hold(t, dataDir);
	await writeNote(running(killed).connectionString);
	process.kill(running(killed).postgres, 'SIGKILL');
	await killed.end('SIGKILL');

	const {connectionString} = await start(t, {dataDir});
	t.deepEqual(await readNotes(connectionString), [{text: 'kept'}]);
});

test('a killed PostgreSQL comes back at the same address, with all data', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const lines = new PassThrough();
	const server = await start(t, {dataDir, log: pino(lines)});
	await writeNote(server.connectionString);
	const before = server.pid();
	process.kill(before, 'SIGKILL');
	for await (const line of lines) {
		if (String(line).includes('is back')) {
			break;
		}
	}

	t.not(server.pid(), before);
	t.deepEqual(await readNotes(server.connectionString), [{text: 'kept'}]);
	await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {name: 'DataDirInUseError'});
});

test('a PostgreSQL that runs on without a server is adopted by the next start and stopped with it', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const first = await startEmbeddedPostgres({dataDir, log: silent});
	await writeNote(first.connectionString);
	await first.stop();
	const identity = await clusterIdentity(first.directory);
	const {postgres} = await prepareBinaries(identity, dataDir);
	const orphan = spawn(
		postgres,
		['-D', first.directory, '-c', 'listen_addresses=', '-c', `unix_socket_directories=${first.directory}`],
		{...identity, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], detached: true},
	);
	const exited = once(orphan, 'exit');
	for await (const line of orphan.stderr) {
		if (String(line).includes('ready to accept connections')) {
			break;
		}
	}

	const second = await startEmbeddedPostgres({dataDir, log: silent});
	t.is(second.pid(), orphan.pid ?? Number.NaN);
	t.deepEqual(await readNotes(second.connectionString), [{text: 'kept'}]);
	await second.stop();
	t.deepEqual(await exited, [0, null]);
});

test('a lock file whose pid now belongs to another process does not keep the database from starting', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const killed = await hold(t, dataDir);
	await writeNote(running(killed).connectionString);
	const {postgres, directory} = running(killed);
	process.kill(postgres, 'SIGKILL');
	await killed.end('SIGKILL');
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

	const {connectionString} = await start(t, {dataDir});
	t.deepEqual(await readNotes(connectionString), [{text: 'kept'}]);
	t.is(bystander.exitCode, null);
});

test('a first start killed in the middle of making the database leaves nothing in the way of the next', async (t) => {
	const dataDir = await temporaryFolder(t);
	const changes = watch(dataDir);
	const child = forkHolder(t, dataDir);
	for await (const {filename} of changes) {
		if (filename?.startsWith('.postgres-')) {
			break;
		}
	}

	await end(child, 'SIGKILL');
	t.false((await readdir(dataDir)).includes('postgres'));

	const {connectionString} = await start(t, {dataDir});
	await writeNote(connectionString);
	t.deepEqual(await readNotes(connectionString), [{text: 'kept'}]);
});
