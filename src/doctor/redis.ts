import {connectRedis} from '../limits/connect-redis.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, fail} = findingsOf('Redis');

/** Redis, where one is configured. @param redis null: none is. */
export const checkRedis = async (redis: {ping(): Promise<unknown>} | null): Promise<Finding[]> => {
	if (redis === null) {
		return [ok('redis.reachable', 'none is configured: limits are kept in the process')];
	}

	try {
		await redis.ping();
		return [ok('redis.reachable', 'it answers')];
	} catch {
		return [
			fail(
				'redis.reachable',
				'it does not answer; limits are kept in the process meanwhile',
				'Start Redis, or correct REDIS_URL',
			),
		];
	}
};

/** The same over a connection of its own, for a command; nothing is tried twice. */
export const checkRedisAt = async (url: string | null): Promise<Finding[]> => {
	if (url === null) {
		return checkRedis(null);
	}

	const client = connectRedis(url, {lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0});
	client.on('error', () => {});
	return checkRedis(client).finally(() => client.disconnect());
};
