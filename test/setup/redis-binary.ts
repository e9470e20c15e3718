import {findProgram} from './find-program.ts';

/**
 * The path of a real Redis server. Throws with the next step if there is none: tests of shared limits and invalidation
 * are never skipped.
 */
export const findRedisBinary = async (): Promise<string> => {
	const found = await findProgram({
		name: 'redis',
		variable: 'REDIS_SERVER_BIN',
		names: ['redis-server', 'valkey-server'],
		packages: ['redis-server', 'redis-tools'],
		binary: 'usr/bin/redis-server',
	});
	if ('command' in found) {
		return found.command;
	}

	throw new Error(
		[
			`The tests need a Redis, and none could be had (${found.reason}). Provide one in one of three ways:`,
			'  1. set TEST_REDIS_URL to a Redis that may be written to, such as redis://127.0.0.1:6379;',
			'  2. install redis-server or valkey-server, or set REDIS_SERVER_BIN to the path of one;',
			'  3. on Debian or Ubuntu, let apt-get reach its mirrors: the tests download the package by themselves.',
		].join('\n'),
	);
};
