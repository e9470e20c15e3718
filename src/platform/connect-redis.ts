import {createRequire} from 'node:module';
import type {Cluster, Redis, RedisOptions} from 'ioredis';
import {type RedisAddress, readRedisAddress} from './config/redis-address.ts';

const require = createRequire(import.meta.url);

/** A connection to one Redis, found through Sentinels or not, or to the nodes of a Cluster. */
export type RedisConnection = Redis | Cluster;

/** The delay before another attempt to connect. */
const retryStrategy = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 5), 1000);

/**
 * Options of a connection whose commands answer or fail soon, and never wait for a server to come back: no queue
 * without a connection, no resending, and a silent connection is replaced.
 */
const failFast = {
	enableOfflineQueue: false,
	autoResendUnfulfilledCommands: false,
	maxRetriesPerRequest: 0,
	connectTimeout: 1000,
	commandTimeout: 250,
	socketTimeout: 2000,
} satisfies RedisOptions;

/** Options of a connection that only listens, so it may be silent for long. */
const listening = {connectTimeout: 1000, keepAlive: 10_000} satisfies RedisOptions;

/** How often the slots of a Cluster's nodes are read. */
const SLOTS_REFRESH_MS = 2000;

const authOf = ({username, password, isTls}: RedisAddress) => ({
	...(username === null ? {} : {username}),
	...(password === null ? {} : {password}),
	...(isTls ? {tls: {}} : {}),
});

const sentinelsOf = ({nodes, name, sentinelPassword, isTls}: RedisAddress) => ({
	sentinels: [...nodes],
	name: name ?? '',
	sentinelRetryStrategy: retryStrategy,
	sentinelCommandTimeout: 1000,
	// The Sentinels announce a new primary.
	failoverDetector: true,
	...(sentinelPassword === null ? {} : {sentinelPassword}),
	...(isTls ? {sentinelTLS: {}, enableTLSForSentinelMode: true} : {}),
});

/**
 * A connection to the Redis of a REDIS_URL. The library is loaded only if Redis is configured: it is an eighth of a
 * start.
 * @param options.isPatient whether commands wait for the connection, as those of a command do; else they fail at once.
 * @param options.isListening whether it subscribes and does nothing else.
 */
export const connectRedis = (url: string, {isPatient = false, isListening = false} = {}): RedisConnection => {
	const address = readRedisAddress(url);
	if (typeof address === 'string') {
		throw new Error(`REDIS_URL ${address}`);
	}

	const {Cluster, Redis} = require('ioredis') as typeof import('ioredis');
	const [node] = address.nodes;
	const options: RedisOptions & {replyMapping?: never} = isListening
		? listening
		: isPatient
			? {maxRetriesPerRequest: 0}
			: failFast;
	if (address.kind === 'cluster') {
		const cluster = new Cluster([...address.nodes], {
			enableOfflineQueue: isPatient || isListening,
			clusterRetryStrategy: isPatient ? () => null : retryStrategy,
			// A command for a node that is gone fails at once.
			retryDelayOnFailover: 0,
			retryDelayOnClusterDown: 0,
			slotsRefreshTimeout: 1000,
			redisOptions: {...options, ...authOf(address)},
		});
		// The library's own interval never ends if a disconnect meets a refresh, and keeps the process alive.
		let refreshing: NodeJS.Timeout | undefined;
		cluster.on('ready', () => {
			clearInterval(refreshing);
			refreshing = setInterval(() => cluster.refreshSlotsCache(), SLOTS_REFRESH_MS).unref();
		});
		cluster.on('end', () => clearInterval(refreshing));
		return cluster;
	}

	return new Redis({
		...options,
		...authOf(address),
		db: address.database,
		retryStrategy: isPatient ? () => null : retryStrategy,
		...(address.kind === 'sentinel' ? sentinelsOf(address) : node),
	});
};

/** The delay before a connection that ended is opened again. */
const REVIVAL_MS = 100;

/**
 * Opens a connection again whenever it ends: ioredis ends a connection for good if a Sentinel announces a failover while
 * it connects.
 * @param isWanted false once the owner has closed it.
 */
export const keepConnected = (connection: RedisConnection, isWanted: () => boolean): void => {
	connection.on('end', () => {
		const timer = setTimeout(() => {
			if (isWanted()) {
				connection.connect().catch(() => {});
			}
		}, REVIVAL_MS);
		timer.unref();
	});
};
