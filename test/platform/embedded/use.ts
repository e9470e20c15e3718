import {realpath, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {isRoot} from '../../../src/platform/embedded/identity.ts';
import {startEmbeddedPostgres} from '../../../src/platform/embedded/postgres.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {
	createDataDirs,
	hold,
	query,
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

test('the first start creates the database, the next finds its data', async (t) => {
	const dataDir = path.join(await temporaryFolder(t), 'new', 'data');
	const first = await startEmbeddedPostgres({dataDir, log: silent});
	t.deepEqual(await query(first.connectionString, 'select current_database() "database", current_user "user"'), [
		{database: 'oplink', user: 'oplink'},
	]);
	await writeNote(first.connectionString);
	await first.stop();

	const second = await start(t, {dataDir});
	t.deepEqual(await readNotes(second.connectionString), [{text: 'kept'}]);
});

test('the database is durable, and listens only on a socket that its user and root can open', async (t) => {
	const {connectionString} = await start(t, {dataDir: await dataDirs.copy(t)});
	const settings = await query(
		connectionString,
		`select current_setting('fsync') fsync, current_setting('synchronous_commit') commit,
		current_setting('listen_addresses') tcp, current_setting('unix_socket_permissions') socket`,
	);
	t.deepEqual(settings, [{fsync: 'on', commit: 'on', tcp: '', socket: '0700'}]);
});

test('a second server on the same DATA_DIR is refused with the pid of the first, which keeps running', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const first = await hold(t, dataDir);
	await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {
		name: 'DataDirInUseError',
		message: new RegExp(`^DATA_DIR ${dataDir} is in use by another Oplink server \\(pid ${first.child.pid}\\)`),
	});
	t.deepEqual(await query(running(first).connectionString, 'select 1 one'), [{one: 1}]);
});

test('migrate down is refused while a server runs on the DATA_DIR', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const server = await hold(t, dataDir);
	const {exitCode, stderr} = await runCli(['migrate', 'down', '--yes'], {env: {DATA_DIR: dataDir}});
	t.is(exitCode, 1);
	t.regex(stderr, /is in use by another Oplink server/);
	t.deepEqual(await query(running(server).connectionString, 'select 1 one'), [{one: 1}]);
});

test('a command joins the database of a running server and leaves it running', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const server = await start(t, {dataDir});
	const command = await startEmbeddedPostgres({dataDir, log: silent, exclusive: false});
	t.is(command.pid(), server.pid());
	await command.stop();
	t.deepEqual(await query(server.connectionString, 'select 1 one'), [{one: 1}]);
});

test('a server keeps running after the command that started the database', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const command = await hold(t, dataDir, 'user');
	const server = await start(t, {dataDir});
	await command.end('SIGTERM');
	t.deepEqual(await query(server.connectionString, 'select 1 one'), [{one: 1}]);
	t.is(running(command).postgres, server.pid());
});

test('of two first starts at once one is refused, and the other has the database', async (t) => {
	const dataDir = await temporaryFolder(t);
	const holders = await Promise.all([hold(t, dataDir), hold(t, dataDir)]);
	const [running, refused, ...others] = holders.sort((a, b) => b.said.is.localeCompare(a.said.is));
	t.like(running?.said, {is: 'running'});
	t.like(refused?.said, {is: 'refused', name: 'DataDirInUseError', pid: running?.child.pid ?? null});
	t.is(others.length, 0);
});

test('if its path is too long for a socket, DATA_DIR keeps the data and the socket goes elsewhere', async (t) => {
	const dataDir = path.join(await temporaryFolder(t), 'long'.repeat(30), 'data');
	const first = await startEmbeddedPostgres({dataDir, log: silent});
	t.is(first.directory, path.join(dataDir, 'postgres'));
	await writeNote(first.connectionString);
	await first.stop();

	const second = await start(t, {dataDir});
	t.deepEqual(second.connection, first.connection);
	t.deepEqual(await readNotes(second.connectionString), [{text: 'kept'}]);
});

test('a database of another major version is refused with both versions named', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const {directory, stop} = await startEmbeddedPostgres({dataDir, log: silent});
	await stop();
	await writeFile(path.join(directory, 'PG_VERSION'), '12\n');
	await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {
		name: 'EmbeddedPostgresError',
		message: /was created by PostgreSQL 12; this version of Oplink includes PostgreSQL \d+/,
	});
});

(isRoot() ? test : test.skip)(
	'root with a DATA_DIR that only root may enter gets a link there to the database',
	async (t) => {
		const dataDir = await temporaryFolder(t, 0o700);
		const first = await startEmbeddedPostgres({dataDir, log: silent});
		t.teardown(() => rm(first.directory, {recursive: true, force: true}));
		t.is(await realpath(path.join(dataDir, 'postgres')), first.directory);
		t.notRegex(first.directory, new RegExp(`^${dataDir}`));
		await writeNote(first.connectionString);
		await first.stop();

		const moved = path.join(await temporaryFolder(t, 0o700), 'moved');
		await rename(dataDir, moved);
		const second = await startEmbeddedPostgres({dataDir: moved, log: silent});
		t.deepEqual(await readNotes(second.connectionString), [{text: 'kept'}]);
		await second.stop();

		await rm(first.directory, {recursive: true});
		await t.throwsAsync(startEmbeddedPostgres({dataDir: moved, log: silent}), {
			message: /links to a missing database/,
		});
	},
);

test('a DATA_DIR that cannot be made is refused by name', async (t) => {
	const dataDir = path.join(await dataDirs.copy(t), 'postgres', 'PG_VERSION', 'data');
	await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {
		name: 'EmbeddedPostgresError',
		message: new RegExp(`^DATA_DIR ${dataDir} cannot hold the database: ENOTDIR`),
	});
});
