import {randomBytes} from 'node:crypto';
import path from 'node:path';
import {Client} from 'pg';
import {pino} from 'pino';
import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {migrateUp} from '../../src/platform/db/migrate.ts';
import {startEmbeddedPostgres} from '../../src/platform/embedded/postgres.ts';
import type {Teardown} from '../../test/setup/teardown.ts';
import {pinPostmaster} from './processes.ts';

/** A PostgreSQL of the run, with the settings of an embedded one: what was committed is on the disk. */
export type BenchPostgres = {
	postmaster: number;
	/** A new, migrated, empty database. */
	create(): Promise<{url: string; client: Client; drop(): Promise<void>}>;
};

const withDatabase = (url: string, name: string): string => {
	const other = new URL(url);
	other.pathname = `/${name}`;
	return other.href;
};

const connect = async (url: string): Promise<Client> => {
	const client = new Client({connectionString: url});
	await client.connect();
	return client;
};

export const startDatabase = async (folder: string, teardown: Teardown): Promise<BenchPostgres> => {
	const server = await startEmbeddedPostgres({
		dataDir: path.join(folder, 'postgres'),
		log: pino({level: 'warn'}, pino.destination(2)),
	});
	teardown.add(() => server.stop());
	const postmaster = server.pid();
	pinPostmaster(postmaster);
	const admin = await connect(server.connectionString);
	teardown.add(() => admin.end());
	await admin.query('CREATE DATABASE template');
	const template = createDb(withDatabase(server.connectionString, 'template'));
	await migrateUp(template);
	await closeDb(template);
	return {
		postmaster,
		create: async () => {
			const name = `bench_${randomBytes(4).toString('hex')}`;
			await admin.query(`CREATE DATABASE ${name} TEMPLATE template`);
			const url = withDatabase(server.connectionString, name);
			const client = await connect(url);
			return {
				url,
				client,
				drop: async () => {
					await client.end();
					await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
				},
			};
		},
	};
};
