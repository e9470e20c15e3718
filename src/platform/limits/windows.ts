import type {Logger} from 'pino';
import type {Clock} from '../clock.ts';
import {connectRedis, keepConnected} from '../connect-redis.ts';
import {Loop} from '../loop.ts';
import {Outage} from '../outage.ts';
import type {Limiter} from './limiter.ts';
import {createMemoryLimiter} from './memory-limiter.ts';
import {checkWrites, createRedisLimiter, type TimeSource} from './redis-limiter.ts';

/** How often a Redis that does not decide is probed while no request arrives. */
const PROBE_MS = 1000;

type Options = {
	/** Null: the windows are in the memory of this process. */
	redisUrl: string | null;
	clock: Clock;
	log: Pick<Logger, 'info' | 'warn' | 'error'>;
	/** The time of shared windows: the Redis server's, because the clocks of machines differ. */
	time?: TimeSource;
};

/**
 * The windows of a machine; with Redis, of all machines. If Redis does not decide (unreachable, slow, full, read-only),
 * no request fails or waits: windows in memory decide until Redis is back, so limits hold per machine.
 */
export const createWindows = ({redisUrl, clock, log, time = 'server'}: Options): Limiter => {
	const local = createMemoryLimiter({clock});
	if (redisUrl === null) {
		return local;
	}

	const connection = connectRedis(redisUrl);
	const shared = createRedisLimiter({redis: connection, time});
	const outage = new Outage(log, {
		began: 'Redis is unavailable; enforcing rate limits on this machine',
		ended: 'Redis is back; sharing rate limits',
	});
	let outages = 0;
	let isClosed = false;

	// A connected server may still not decide (stopped, read-only, out of memory), and even answer commands that write
	// nothing. So a connection does not end an outage, but a successful write does.
	const probing = new Loop(async () => {
		if (connection.status === 'ready') {
			try {
				await checkWrites(connection);
				outage.end();
			} catch (error) {
				// After a failover the old primary answers that it is read-only; a new connection finds the new one.
				if (outage.isOpen && (error as Error).message.startsWith('READONLY')) {
					connection.disconnect(true);
				}
			}
		}

		return outage.isOpen ? PROBE_MS : null;
	});

	const begin = (error?: Error) => {
		if (outage.begin(error)) {
			outages += 1;
			probing.wake(PROBE_MS);
		}
	};

	keepConnected(connection, () => !isClosed);
	connection.on('error', begin);
	connection.on('close', () => begin());
	connection.on('ready', () => void probing.run());

	return {
		take: async (limit, subject) => {
			if (outage.isOpen || connection.status !== 'ready') {
				void probing.run();
				return local.take(limit, subject);
			}

			const before = outages;
			try {
				return await shared.take(limit, subject);
			} catch (error) {
				// A request from before an outage that fails after it does not start another one.
				if (before === outages) {
					begin(error as Error);
				}

				return local.take(limit, subject);
			}
		},
		ping: () => checkWrites(connection),
		close: async () => {
			isClosed = true;
			outage.close();
			void probing.stop();
			connection.disconnect();
			await local.close();
		},
	};
};
