import {chmod, chown, copyFile, mkdtemp, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {type EmbeddedPostgres, startEmbeddedPostgres} from '../../../src/platform/embedded/postgres.ts';
import {execute} from '../../helpers/database.ts';
import {tlsFile} from '../../helpers/tls-file.ts';
import {freePort} from '../../setup/free-port.ts';
import {silent} from '../embedded/_clusters.ts';

/** Users need their password over TCP, except `refused`, who is always rejected, and `guarded`, who needs TLS. */
const HBA = `local all oplink trust
host all refused all reject
hostssl all guarded all scram-sha-256
host all admin,app all scram-sha-256
`;

/** A PostgreSQL on TCP with passwords and TLS, as a DBA sets it up. */
export type OddServer = {
	port: number;
	/** The address of a database for a user, `admin` being the superuser. */
	url(database: string, user?: string, rest?: string): string;
	/** Statements of the superuser, in a database. */
	run(sql: string, database?: string): Promise<void>;
	stop(): Promise<void>;
};

export const startOddServer = async (): Promise<OddServer> => {
	const dataDir = await mkdtemp(path.join(tmpdir(), 'oplink-odd-'));
	await chmod(dataDir, 0o711);
	const first = await startEmbeddedPostgres({dataDir, log: silent});
	await execute(first.connectionString, "CREATE ROLE admin SUPERUSER LOGIN PASSWORD 'password'");
	await first.stop();
	await writeFile(path.join(first.directory, 'pg_hba.conf'), HBA);
	const {uid, gid} = await stat(first.directory);
	for (const name of ['key', 'localhost']) {
		const file = path.join(first.directory, `${name}.pem`);
		await copyFile(tlsFile(name), file);
		await chmod(file, 0o600);
		await chown(file, uid, gid);
	}

	const port = await freePort();
	const server: EmbeddedPostgres = await startEmbeddedPostgres({
		dataDir,
		log: silent,
		settings: {
			listen_addresses: '127.0.0.1',
			port: String(port),
			fsync: 'off',
			ssl: 'on',
			ssl_cert_file: 'localhost.pem',
			ssl_key_file: 'key.pem',
		},
	});
	const url = (database: string, user = 'admin', rest = '') =>
		`postgres://${user}:password@localhost:${port}/${database}${rest}`;
	return {
		port,
		url,
		run: (sql, database = 'postgres') => execute(url(database), sql),
		stop: async () => {
			await server.stop();
			await rm(dataDir, {recursive: true, force: true, maxRetries: 5});
		},
	};
};
