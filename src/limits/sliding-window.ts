import type {Redis} from 'ioredis';
import ipaddr from 'ipaddr.js';
import type {Logger} from 'pino';
import type {Clock} from '../clock.ts';
import type {Limit} from './limits.ts';
import {createMemoryLimiter} from './memory-limiter.ts';
import {createRedisExchange} from './redis-exchange.ts';
import {createRedisLimiter, failFastOptions, type TimeSource} from './redis-limiter.ts';
import {createSharedDemand, TELL_MS} from './shared-demand.ts';
import {createSteadyClock} from './steady-clock.ts';

/**
 * Counts requests in sliding windows: never more than `max` of a subject are admitted in any `windowSeconds`. A refused
 * request costs nothing.
 */
export type Limiter = {
	/** Admits a request (0), or returns the whole seconds, at least 1, until a retry can succeed. */
	take(limit: Limit, subject: string): Promise<number> | number;
	/** Resolves where the windows can be reached, rejects where they cannot. */
	ping(): Promise<void>;
	close(): Promise<void>;
};

/**
 * What a limit per address is counted under. One IPv6 caller owns at least a /64 and may use any address in it, so
 * the whole /64 counts as one (`2001:db8:1:2::/64`); an IPv4 address, also one mapped into IPv6, counts as itself.
 */
export const limitSubjectOf = (ip: string): string => {
	if (!ip.includes(':')) {
		return ip;
	}

	const address = ipaddr.process(ip);
	if (!(address instanceof ipaddr.IPv6)) {
		return address.toString();
	}

	return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
};

/**
 * The limiter of the service. Without Redis the windows are those of `local`; with Redis they are shared. A Redis that
 * does not decide (away, slow, read-only) never fails or delays requests: `local` decides until it is back, so limits
 * go on, per process. An outage is logged once when it begins and once when it ends.
 * @param redis where to connect to; the limiter opens a connection of its own like it, and closes that.
 * @param local decides without Redis; windows of this process unless given.
 * @param time the time of shared windows: the Redis server's, because the clocks of processes differ.
 */
export const createLimiter = ({
	redis,
	clock,
	log,
	local = createMemoryLimiter({clock}),
	time = 'server',
}: {
	redis: Redis | null;
	clock: Clock;
	log: Pick<Logger, 'info' | 'warn'>;
	local?: Limiter;
	time?: TimeSource;
}): Limiter => {
	if (redis === null) {
		return local;
	}

	const shared = createSharedLimiter({redis, log, local, time});
	const hot = createHotLimiter({redis, clock});
	return {
		take: (limit, subject) => (limit.isHot ? hot : shared).take(limit, subject),
		ping: shared.ping,
		close: async () => {
			await hot.close();
			await shared.close();
		},
	};
};

/** Decides at once, and tells other processes through Redis what it is asked for. Without Redis each has the limit. */
const createHotLimiter = ({redis, clock}: {redis: Redis; clock: Clock}): Limiter => {
	const steady = createSteadyClock(clock);
	const sharing = createSharedDemand({exchange: createRedisExchange(redis), clock: steady});
	const limiter = createMemoryLimiter({clock: steady, sharing});
	const timer = setInterval(sharing.tell, TELL_MS).unref();
	return {
		...limiter,
		close: async () => {
			clearInterval(timer);
			await sharing.close();
			await limiter.close();
		},
	};
};

type SharedDeps = {redis: Redis; log: Pick<Logger, 'info' | 'warn'>; local: Limiter; time: TimeSource};

const createSharedLimiter = ({redis, log, local, time}: SharedDeps): Limiter => {
	const connection = redis.duplicate(failFastOptions);
	const shared = createRedisLimiter({redis: connection, time});
	let isAway = false;
	let outages = 0;
	let isProbing = false;
	let isClosed = false;

	const away = (error?: Error) => {
		if (!isAway && !isClosed) {
			isAway = true;
			outages += 1;
			log.warn({err: error}, 'Redis does not answer; rate limits are counted per process until it does');
		}
	};

	const back = () => {
		if (isAway && !isClosed) {
			isAway = false;
			log.info('Redis answers again; rate limits are shared again');
		}
	};

	connection.on('error', away);
	connection.on('close', () => away());

	// A server can be connected and still not decide (stopped, read-only, out of memory). So a connection alone ends no
	// outage: one decision at a time is asked on the side, and the first that is answered does.
	const probe = async (limit: Limit, subject: string) => {
		isProbing = true;
		try {
			await shared.take(limit, subject);
			back();
		} catch (error) {
			// Still away, which is logged already. After a failover the old primary answers that it is read-only; a new
			// connection finds the new one.
			if ((error as Error).message.startsWith('READONLY')) {
				connection.disconnect(true);
			}
		} finally {
			isProbing = false;
		}
	};

	return {
		take: async (limit, subject) => {
			if (isAway || connection.status !== 'ready') {
				if (!isProbing && connection.status === 'ready') {
					void probe(limit, subject);
				}

				return local.take(limit, subject);
			}

			const outage = outages;
			try {
				return await shared.take(limit, subject);
			} catch (error) {
				// What was asked before an outage and fails after it is no new one.
				if (outage === outages) {
					away(error as Error);
				}

				return local.take(limit, subject);
			}
		},
		ping: shared.ping,
		close: async () => {
			isClosed = true;
			connection.disconnect();
			await local.close();
		},
	};
};
