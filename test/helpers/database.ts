import {randomBytes} from 'node:crypto';
import type {ExecutionContext} from 'ava';
import {Client} from 'pg';
import type {Db} from '../../src/platform/db/db.ts';

/** A test's database and its removal. */
export type TestDatabase = {url: string; drop(): Promise<void>};

const server = (): {url: string; template: string} => {
	const {TEST_DATABASE_URL: url, TEST_TEMPLATE: template} = process.env;
	if (!url || !template) {
		throw new Error('This test needs a database: run it by `npx ava FILE`.');
	}

	return {url, template};
};

/** Runs statements on a separate connection. */
export const execute = async (connectionString: string, sql: string): Promise<void> => {
	const client = new Client({connectionString});
	await client.connect();
	try {
		await client.query(sql);
	} finally {
		await client.end();
	}
};

const createDatabase = async (made: string): Promise<TestDatabase> => {
	const {url} = server();
	const name = `test_${randomBytes(8).toString('hex')}`;
	await execute(url, `create database ${name} ${made}`);
	const clone = new URL(url);
	clone.pathname = `/${name}`;
	return {url: clone.href, drop: () => execute(url, `drop database if exists ${name} with (force)`)};
};

/**
 * A migrated, empty database for one test file, cloned from the run's template, or from another one.
 * @returns its URL, and what removes it together with the connections it still has.
 */
export const createTestDatabase = (template = server().template): Promise<TestDatabase> =>
	// Copies files instead of logging every page, which would write them twice.
	createDatabase(`template ${template} strategy file_copy`);

/** Such a database of one test. */
export const databaseOf = async (t: Pick<ExecutionContext, 'teardown'>): Promise<TestDatabase> => {
	const database = await createTestDatabase();
	t.teardown(database.drop);
	return database;
};

/** An empty database as created by a DBA. @param options of CREATE DATABASE. */
export const createBareDatabase = (options = ''): Promise<TestDatabase> =>
	createDatabase(`template template0 ${options}`);

/** Resolves when another session waits for a lock of the transaction. */
export const untilAwaited = async (trx: Db): Promise<void> => {
	const waiting = 'SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))';
	while ((await trx.raw<{rowCount: number}>(waiting)).rowCount === 0) {
		// Until it meets the lock.
	}
};
