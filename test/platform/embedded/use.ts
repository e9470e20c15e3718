import {chmod, realpath, rename, rm, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {isRoot} from '../../../src/platform/embedded/location.ts';
import {startEmbeddedPostgres} from '../../../src/platform/embedded/postgres.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {startedFor} from '../../helpers/started.ts';
import {
	assertAnswers,
	assertKept,
	dataDirsOf,
	hold,
	query,
	running,
	silent,
	start,
	temporaryFolder,
	writeNote,
} from './_clusters.ts';

const dataDirs = dataDirsOf(test);

/** A server of another process, for the tests that only look at its database. */
const server = startedFor(test, async () => {
	const byHand = {teardown: () => {}};
	const dataDir = await dataDirs.copy(byHand);
	const holder = await hold(byHand, dataDir);
	const stop = async () => {
		await holder.end('SIGTERM');
		await rm(dataDir, {recursive: true});
	};
	return {dataDir, pid: holder.child.pid, ...running(holder), stop};
});

test('a first start creates a durable database, on a socket of its user and root, and the next finds its data', async (t) => {
	const settings = await query(
		server.connectionString,
		`select current_database() "database", current_user "user", current_setting('fsync') fsync,
		current_setting('synchronous_commit') commit, current_setting('listen_addresses') tcp,
		current_setting('unix_socket_permissions') socket`,
	);
	const durable = {fsync: 'on', commit: 'on', tcp: '', socket: '0700'};
	t.deepEqual(settings, [{database: 'oplink', user: 'oplink', ...durable}]);
	await assertKept(t, server.connectionString, 'first');
});

test('a second server on the same DATA_DIR is refused with the pid of the first, which keeps running', async (t) => {
	await t.throwsAsync(startEmbeddedPostgres({dataDir: server.dataDir, log: silent}), {
		name: 'DataDirInUseError',
		message: new RegExp(`^DATA_DIR ${server.dataDir} is in use by another Oplink server \\(pid ${server.pid}\\)`),
	});
	await assertAnswers(t, server.connectionString);
});

test('migrate down is refused while a server runs on the DATA_DIR', async (t) => {
	const {exitCode, stderr} = await runCli(['migrate', 'down', '--yes'], {env: {DATA_DIR: server.dataDir}});
	t.is(exitCode, 1);
	t.regex(stderr, /is in use by another Oplink server/);
	await assertAnswers(t, server.connectionString);
});

test('a command joins the database of a running server and leaves it running', async (t) => {
	const command = await startEmbeddedPostgres({dataDir: server.dataDir, log: silent, exclusive: false});
	t.is(command.pid(), server.postgres);
	await command.stop();
	await assertAnswers(t, server.connectionString);
});

test('a server keeps running after the command that started the database', async (t) => {
	const dataDir = await dataDirs.copy(t);
	const command = await hold(t, dataDir, 'user');
	const server = await start(t, {dataDir});
	await command.end('SIGTERM');
	await assertAnswers(t, server.connectionString);
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
	const dataDir = await dataDirs.copy(t, `${'long'.repeat(30)}/data`);
	const first = await startEmbeddedPostgres({dataDir, log: silent});
	t.is(first.directory, path.join(dataDir, 'postgres'));
	await first.stop();

	const second = await start(t, {dataDir});
	t.deepEqual(second.connection, first.connection);
	await assertKept(t, second.connectionString, 'first');
});

test('a database of another major version is refused with both versions named', async (t) => {
	const dataDir = await dataDirs.copy(t);
	await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '12\n');
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
		await assertKept(t, second.connectionString);
		await second.stop();

		await rm(first.directory, {recursive: true});
		await t.throwsAsync(startEmbeddedPostgres({dataDir: moved, log: silent}), {message: /links to a missing database/});
	},
);

(isRoot() ? test : test.skip)(
	'a database whose owner may not enter its folder is refused, with owner and cure',
	async (t) => {
		const dataDir = await dataDirs.copy(t);
		const {uid} = await stat(path.join(dataDir, 'postgres'));
		await chmod(dataDir, 0o700);
		await t.throwsAsync(startEmbeddedPostgres({dataDir, log: silent}), {
			message: new RegExp(`^The user with id ${uid} owns the database in ${dataDir}/postgres, but cannot enter`),
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
