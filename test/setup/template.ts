import {randomBytes} from 'node:crypto';
import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Client} from 'pg';
import {pino} from 'pino';
import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {migrateUp} from '../../src/platform/db/migrate.ts';
import {startEmbeddedPostgres} from '../../src/platform/embedded/postgres.ts';
import type {Teardown} from './teardown.ts';

/** Nothing of a test outlives the run, so nothing has to reach the disk. */
const SETTINGS = {
	fsync: 'off',
	synchronous_commit: 'off',
	full_page_writes: 'off',
	// A test's database is gone before a statistic of it could serve anybody.
	autovacuum: 'off',
	max_wal_size: '128MB',
	wal_level: 'minimal',
	max_wal_senders: '0',
	// The kernel copies the template's files by itself.
	file_copy_method: 'clone',
	max_connections: '600',
};

/** The address of a PostgreSQL for this run: TEST_DATABASE_URL if set, else a new one. */
const findServer = async (folder: string, teardown: Teardown): Promise<string> => {
	const given = process.env['TEST_DATABASE_URL'];
	if (given) {
		return given;
	}

	// A password would cost 2.4 ms of CPU at each of thousands of connections.
	const hbaFile = path.join(folder, 'pg_hba.conf');
	await writeFile(hbaFile, 'local all all trust\nhost all all 127.0.0.1/32 trust\n');
	const server = await startEmbeddedPostgres({
		dataDir: path.join(folder, 'data'),
		log: pino({level: 'warn'}, pino.destination(2)),
		settings: {...SETTINGS, hba_file: hbaFile},
	});
	teardown.add(() => server.stop());
	return server.connectionString;
};

const execute = async (connectionString: string, sql: string): Promise<void> => {
	const client = new Client({connectionString});
	await client.connect();
	try {
		await client.query(sql);
	} finally {
		await client.end();
	}
};

/**
 * Migrates the database that every test file clones.
 * @returns the address of the server's maintenance database, and the template's name.
 */
export const prepareTemplate = async (folder: string, teardown: Teardown): Promise<{url: string; template: string}> => {
	const url = await findServer(folder, teardown);
	const template = `oplink_template_${randomBytes(4).toString('hex')}`;
	await execute(url, `create database ${template}`);
	teardown.add(() => execute(url, `drop database ${template} with (force)`));
	const templateUrl = new URL(url);
	templateUrl.pathname = `/${template}`;
	const db = createDb(templateUrl.href);
	try {
		await migrateUp(db);
	} finally {
		await closeDb(db);
	}

	return {url, template};
};
