import {createRequire} from 'node:module';
import type {Redis as Connection, RedisOptions} from 'ioredis';

const require = createRequire(import.meta.url);

/** A connection to Redis. The library is loaded where one is configured alone: it is an eighth of a start. */
export const connectRedis = (url: string, options: RedisOptions & {replyMapping?: never}): Connection => {
	const {Redis} = require('ioredis') as typeof import('ioredis');
	return new Redis(url, options);
};
