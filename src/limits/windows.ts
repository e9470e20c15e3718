import type {Logger} from 'pino';
import type {Clock} from '../clock.ts';
import {connectRedis, keepConnected} from './connect-redis.ts';
import {createFreeAdmissions, createKeeper} from './keeper.ts';
import type {Limiter} from './limiter.ts';
import type {Limit} from './limits.ts';
import {createMemoryLimiter} from './memory-limiter.ts';
import {createRedisLimiter, type TimeSource} from './redis-limiter.ts';
import {BEAT_MS, createRedisMachines} from './redis-machines.ts';

export type WindowOptions = {
	/** Null: the windows are in the memory of this process. */
	redisUrl: string | null;
	clock: Clock;
	log: Pick<Logger, 'info' | 'warn'>;
	/** How many processes of this machine answer. */
	processes: number;
	/** The time of shared windows: the Redis server's, because the clocks of machines differ. */
	time?: TimeSource;
};

/**
 * The windows of a machine; with Redis, of all machines. If Redis does not decide (unreachable, slow, full, read-only),
 * no request fails or waits: windows in memory decide until it is back, so limits hold per machine. An outage is logged
 * once when it begins and once when it ends.
 */
export const createWindows = ({redisUrl, clock, log, processes, time = 'server'}: WindowOptions): Limiter => {
	const local = createMemoryLimiter({clock});
	if (redisUrl === null) {
		return local;
	}

	const connection = connectRedis(redisUrl);
	const machines = createRedisMachines({redis: connection, processes});
	const shared = createRedisLimiter({redis: connection, time, machines});
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
			await machines.beat();
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
	const beating = setInterval(probe, BEAT_MS).unref();

	return {
		take: async (limit: Limit, subject: string, before = 0) => {
			if (isAway || connection.status !== 'ready') {
				void probe();
				return local.take(limit, subject, before);
			}

			const outage = outages;
			try {
				return await shared.take(limit, subject, before);
			} catch (error) {
				// A request from before an outage that fails after it does not start another one.
				if (outage === outages) {
					away(error as Error);
				}

				return local.take(limit, subject, before);
			}
		},
		ping: machines.beat,
		close: async () => {
			isClosed = true;
			clearInterval(beating);
			// Where Redis does not hear this, the machine counts as gone soon.
			await machines.leave().catch(() => {});
			connection.disconnect();
			await local.close();
		},
	};
};

/** The limiter of the only process of a machine. Without Redis it decides synchronously. */
export const createOwnLimiter = (given: Omit<WindowOptions, 'processes'>): Limiter => {
	const alone = {...given, processes: 1};
	const windows = createWindows(alone);
	if (given.redisUrl === null) {
		return windows;
	}

	const free = createFreeAdmissions(alone);
	const keeper = createKeeper({...alone, windows});
	keeper.join(free);
	free.open();
	return {...windows, take: (limit, subject) => (free.take(limit, subject) ? 0 : keeper.take(limit, subject))};
};
