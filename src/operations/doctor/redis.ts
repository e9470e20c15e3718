import {connectRedis} from '../../platform/connect-redis.ts';
import {checkWrites} from '../../platform/limits/redis-limiter.ts';
import {type Finding, findingsOf} from '../finding.ts';

const {ok, fail} = findingsOf('Redis');

/** Checks Redis, if configured. @param decides rejects if Redis cannot decide limits; null if none is configured. */
export const checkRedis = async (decides: (() => Promise<void>) | null): Promise<Finding[]> => {
	if (decides === null) {
		return [ok('redis.reachable', 'none is configured: this machine enforces limits by itself')];
	}

	try {
		await decides();
		return [ok('redis.reachable', 'it answers and accepts writes')];
	} catch {
		return [
			fail(
				'redis.reachable',
				'it does not answer or does not accept writes (full or read-only); each machine enforces limits by itself',
				'Start Redis, make it writable, or correct REDIS_URL',
			),
		];
	}
};

/** Checks Redis over a connection of its own, without retries, for a command. */
export const checkRedisAt = async (url: string | null): Promise<Finding[]> => {
	if (url === null) {
		return checkRedis(null);
	}

	const client = connectRedis(url, {isPatient: true});
	client.on('error', () => {});
	return checkRedis(() => checkWrites(client)).finally(() => client.disconnect());
};
