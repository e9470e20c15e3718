import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {databaseOf} from './database.ts';
import {dataDirectory, oplink, ready} from './process.ts';
import type {TestService} from './service.ts';

/**
 * `oplink serve` with two workers, over a database of its own: what builders and callers need of a service, and the
 * program. `workers` are the process ids of those that ever answered.
 */
export const startWorkers = async (env: Record<string, string> = {}) => {
	const undos: Array<() => unknown> = [];
	const t = {teardown: (undo: () => unknown) => void undos.push(undo)};
	const database = await databaseOf(t);
	const DATA_DIR = env['DATA_DIR'] ?? (await dataDirectory(t));
	const program = oplink(t, ['serve'], {
		PORT: '0',
		WORKERS: '2',
		DATA_DIR,
		DATABASE_URL: database.url,
		TRUSTED_PROXIES: '127.0.0.0/8',
		LOG_FORMAT: 'json',
		...env,
	});
	await program.printed(ready);
	// Not the address in LINK_DOMAIN and PUBLIC_URL.
	const [, url = ''] = await program.printed(/"url":"([^"]+)","pid":\d+,"msg":"ready"/);
	// Both workers must have the one that was generated.
	const adminToken = (await readFile(path.join(DATA_DIR, 'admin-token'), 'utf8')).trim();
	return {
		...program,
		url,
		workers: () => [...program.stderr().matchAll(/"pid":(\d+),"msg":"ready"/g)].map(([, pid]) => Number(pid)),
		databaseUrl: database.url,
		service: {url, adminToken} as unknown as TestService,
		stop: async (): Promise<void> => {
			program.child.kill('SIGTERM');
			await program.ended;
			for (const undo of undos.toReversed()) {
				await undo();
			}
		},
	};
};

export type Workers = Awaited<ReturnType<typeof startWorkers>>;

/** A numbered database of the run's Redis, invisible to those of other numbers. */
export const redisOfOwn = (number: number): string => {
	const url = new URL(process.env['TEST_REDIS_URL'] ?? '');
	url.pathname = `/${number}`;
	return url.href;
};
