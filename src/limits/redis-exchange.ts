import type {Redis} from 'ioredis';
import {failFastOptions} from './redis-limiter.ts';
import type {Exchange} from './shared-demand.ts';

const CHANNEL = 'oplink:demand';

/** Messages between processes by Redis's publish and subscribe. What is said while Redis is away is heard by nobody. */
export const createRedisExchange = (redis: Redis): Exchange => {
	const speaking = redis.duplicate(failFastOptions);
	// A subscribed connection is silent for as long as nobody speaks.
	const {socketTimeout: _, commandTimeout: __, ...patient} = failFastOptions;
	const listening = redis.duplicate({...patient, autoResubscribe: false});
	for (const connection of [speaking, listening]) {
		// The limits that are exact across processes tell of an outage.
		connection.on('error', () => {});
	}

	listening.on('ready', () => {
		listening.subscribe(CHANNEL).catch(() => {});
	});
	return {
		say: (message) => {
			if (speaking.status === 'ready') {
				speaking.publish(CHANNEL, message).catch(() => {});
			}
		},
		onMessage: (listener) => {
			listening.on('message', (_channel, message) => listener(message));
		},
		close: async () => {
			speaking.disconnect();
			listening.disconnect();
		},
	};
};
