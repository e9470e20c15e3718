import {createRequire} from 'node:module';
import type {Redis as Connection, RedisOptions} from 'ioredis';

const require = createRequire(import.meta.url);

/**
 * Options of a connection whose commands answer or fail soon, and never wait for a server to come back: no queue
 * without a connection, no resending, and a silent connection is replaced.
 */
export const failFastOptions = {
	enableOfflineQueue: false,
	autoResendUnfulfilledCommands: false,
	maxRetriesPerRequest: 0,
	lazyConnect: false,
	connectTimeout: 1000,
	commandTimeout: 250,
	socketTimeout: 2000,
	retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 5), 1000),
} satisfies RedisOptions;

/** A connection to Redis. The library is loaded only where Redis is configured: it is an eighth of a start. */
export const connectRedis = (url: string, options: RedisOptions & {replyMapping?: never}): Connection => {
	const {Redis} = require('ioredis') as typeof import('ioredis');
	return new Redis(url, options);
};
