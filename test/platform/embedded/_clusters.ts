import {type ChildProcess, execFile, fork} from 'node:child_process';
import {once} from 'node:events';
import {chmod, mkdir, mkdtemp, rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import type {ExecutionContext, TestFn} from 'ava';
import {Client} from 'pg';
import {pino} from 'pino';
import {isRoot} from '../../../src/platform/embedded/location.ts';
import {type EmbeddedPostgres, startEmbeddedPostgres} from '../../../src/platform/embedded/postgres.ts';
import type {HolderMessage} from './_holder.ts';

export const silent = pino({level: 'silent'});

type Teardown = Pick<ExecutionContext, 'teardown'>;

const reachable = isRoot() ? 0o711 : 0o700;

/** A folder removed with the test. Under root another user may traverse it, unless `mode` forbids it. */
export const temporaryFolder = async (t: Teardown, mode = reachable): Promise<string> => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'oplink-test-'));
	await chmod(folder, mode);
	t.teardown(() => rm(folder, {recursive: true, force: true, maxRetries: 5}));
	return folder;
};

/**
 * DATA_DIRs with a database that has been started and stopped once, with a first note: each a copy of one that is there
 * for the tests of the file, which takes a tenth of the time of making one.
 */
export const dataDirsOf = (test: TestFn) => {
	let folder: string;
	const original = () => path.join(folder, 'new', 'data');
	test.serial.before(async () => {
		folder = await mkdtemp(path.join(os.tmpdir(), 'oplink-test-'));
		await chmod(folder, reachable);
		const database = await startEmbeddedPostgres({dataDir: original(), log: silent});
		await writeNote(database.connectionString, 'first');
		await database.stop();
	});
	test.after.always(() => rm(folder, {recursive: true, force: true}));
	return {
		/** @param name of the copy in its folder. */
		copy: async (t: Teardown, name = ''): Promise<string> => {
			const dataDir = path.join(await temporaryFolder(t), name);
			await mkdir(dataDir, {recursive: true});
			await promisify(execFile)('cp', ['-a', `${original()}/.`, dataDir]);
			return dataDir;
		},
	};
};

/** Starts the database in this process; it is stopped with the test. */
export const start = async (
	t: ExecutionContext,
	options: {dataDir: string; exclusive?: boolean; log?: typeof silent},
): Promise<EmbeddedPostgres> => {
	const database = await startEmbeddedPostgres({log: silent, ...options});
	t.teardown(() => database.stop());
	return database;
};

export type Holder = {
	child: ChildProcess;
	said: HolderMessage;
	/** Ends the process with the signal and waits until it is gone. */
	end(signal: NodeJS.Signals): Promise<void>;
};

const holder = path.join(path.dirname(process.env['TEST_BINARY'] ?? ''), '../test/platform/embedded/_holder.js');

export const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
	if (child.exitCode === null && child.signalCode === null) {
		const exited = once(child, 'exit');
		child.kill(signal);
		await exited;
	}
};

/** Starts the database in a separate process and waits for its message. */
export const hold = async (t: Teardown, dataDir: string, use: 'server' | 'user' = 'server'): Promise<Holder> => {
	const child = fork(holder, [dataDir, use]);
	t.teardown(() => end(child, 'SIGTERM'));
	const [said] = (await once(child, 'message')) as [HolderMessage];
	return {child, said, end: (signal) => end(child, signal)};
};

/** A holder's message about its database; fails the test if there is none. */
export const running = ({said}: Holder) => {
	if (said.is !== 'running') {
		throw new Error(said.message);
	}

	return said;
};

/** Runs one statement on a connection of its own. */
export const query = async (connectionString: string, sql: string): Promise<unknown[]> => {
	const client = new Client({connectionString});
	await client.connect();
	try {
		return (await client.query(sql)).rows;
	} finally {
		await client.end();
	}
};

export const writeNote = (address: string, text = 'kept') =>
	query(address, `create table if not exists note (text text); insert into note values ('${text}')`);

/** Asserts that the note is there. */
export const assertKept = async (t: ExecutionContext, address: string, text = 'kept') =>
	t.deepEqual(await query(address, `select text from note where text = '${text}'`), [{text}]);

/** Asserts that a start on the DATA_DIR finds the note. */
export const assertKeptIn = async (t: ExecutionContext, dataDir: string) =>
	assertKept(t, (await start(t, {dataDir})).connectionString);

/** Asserts that the database answers. */
export const assertAnswers = async (t: ExecutionContext, address: string) =>
	t.deepEqual(await query(address, 'select 1 one'), [{one: 1}]);
