import type {Logger} from 'pino';
import type {Clock} from '../clock.ts';
import {connectRedis, keepConnected} from './connect-redis.ts';
import type {Limiter} from './limiter.ts';
import {createMemoryLimiter} from './memory-limiter.ts';
import {checkWrites, createRedisLimiter, type TimeSource} from './redis-limiter.ts';

/** How often a Redis that does not decide is tried again while no request comes. */
const PROBE_MS = 1000;

type Options = {
	/** Null: the windows are in the memory of this process. */
	redisUrl: string | null;
	clock: Clock;
	log: Pick<Logger, 'info' | 'warn'>;
	/** The time of shared windows: the Redis server's, because the clocks of machines differ. */
	time?: TimeSource;
};

/**
 * The windows of a machine; with Redis, of all machines. If Redis does not decide (unreachable, slow, full, read-only),
 * no request fails or waits: windows in memory decide until it is back, so limits hold per machine. An outage is logged
 * once when it begins and once when it ends.
 */
export const createWindows = ({redisUrl, clock, log, time = 'server'}: Options): Limiter => {
	const local = createMemoryLimiter({clock});
	if (redisUrl === null) {
		return local;
	}

	const connection = connectRedis(redisUrl);
	const shared = createRedisLimiter({redis: connection, time});
	let isAway = false;
	let outages = 0;
	let isProbing = false;
	let isClosed = false;

	const away = (error?: Error) => {
		if (!isAway && !isClosed) {
			isAway = true;
			outages += 1;
			log.warn({err: error}, 'Redis is unavailable; enforcing rate limits on this machine');
		}
	};

	const back = () => {
		if (isAway && !isClosed) {
			isAway = false;
			log.info('Redis is back; sharing rate limits');
		}
	};

	// A connected server may still not decide (stopped, read-only, out of memory), and even answer commands that write
	// nothing. So a connection does not end an outage, but a successful write: one at a time is tried in the background.
	const probe = async () => {
		if (isProbing || connection.status !== 'ready') {
			return;
		}

		isProbing = true;
		try {
			await checkWrites(connection);
			back();
		} catch (error) {
			// After a failover the old primary answers that it is read-only; a new connection finds the new one.
			if (isAway && (error as Error).message.startsWith('READONLY')) {
				connection.disconnect(true);
			}
		} finally {
			isProbing = false;
		}
	};

	keepConnected(connection, () => !isClosed);
	connection.on('error', away);
	connection.on('close', () => away());
	connection.on('ready', probe);
	const probing = setInterval(() => isAway && probe(), PROBE_MS).unref();

	return {
		take: async (limit, subject) => {
			if (isAway || connection.status !== 'ready') {
				void probe();
				return local.take(limit, subject);
			}

			const outage = outages;
			try {
				return await shared.take(limit, subject);
			} catch (error) {
				// A request from before an outage that fails after it does not start another one.
				if (outage === outages) {
					away(error as Error);
				}

				return local.take(limit, subject);
			}
		},
		ping: () => checkWrites(connection),
		close: async () => {
			isClosed = true;
			clearInterval(probing);
			connection.disconnect();
			await local.close();
		},
	};
};
