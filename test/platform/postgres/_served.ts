import type {ExecutionContext} from 'ava';
import {dataDirectory, oplink, ready, sentencesOf} from '../../helpers/process.ts';

const adminToken = 'x'.repeat(32);

export const environment = async (t: ExecutionContext, databaseUrl: string) => ({
	DATABASE_URL: databaseUrl,
	PORT: '0',
	DATA_DIR: await dataDirectory(t),
	ADMIN_TOKEN: adminToken,
	LOG_FORMAT: 'json',
});

/** The program, which begins to serve: `ready` is its service for callers and builders. */
export const served = (t: ExecutionContext, env: Record<string, string>) => {
	const {printed, child, ended, stderr} = oplink(t, ['serve'], env);
	return {
		ready: printed(ready).then(([, url = '']) => ({url, adminToken})),
		/** Stops it, and asserts that it had no fault. */
		stop: async () => {
			child.kill('SIGTERM');
			t.is(await ended, 0);
			t.notRegex(stderr(), /"level":"(error|fatal)"/);
		},
	};
};

/** The only line for people with which a start ends, with 78. */
export const refusalOf = async (t: ExecutionContext, argv: string[], env: Record<string, string>): Promise<string> => {
	const {ended, stderr} = oplink(t, argv, env);
	t.is(await ended, 78, stderr());
	const lines = sentencesOf(stderr());
	t.is(lines.length, 1, stderr());
	return lines[0] ?? '';
};
