import process from 'node:process';
import {pino} from 'pino';
import {startEmbeddedPostgres} from '../../../src/platform/embedded/postgres.ts';

/** The messages of a holder to the test that forked it. */
export type HolderMessage =
	| {is: 'running'; connectionString: string; postgres: number; directory: string}
	| {is: 'refused'; name: string; message: string; pid: number | null};

const send = (message: HolderMessage) => process.send?.(message);

const [dataDir = '', use = 'server'] = process.argv.slice(2);
try {
	const log = pino({level: process.env['LOG_LEVEL'] ?? 'silent'});
	const database = await startEmbeddedPostgres({dataDir, log, exclusive: use === 'server'});
	process.once('SIGTERM', async () => {
		await database.stop();
		process.disconnect();
	});
	send({
		is: 'running',
		connectionString: database.connectionString,
		postgres: database.pid(),
		directory: database.directory,
	});
} catch (error) {
	const {name, message, pid = null} = error as Error & {pid?: number};
	send({is: 'refused', name, message, pid});
	process.disconnect();
}
