import {connectRedis} from '../limits/connect-redis.ts';
import type {SecondLine} from './second-line.ts';

const CHANNEL = 'oplink:processes';

/** The line through Redis, one behind Sentinels, or a Cluster. */
export const createRedisLine = (redisUrl: string): SecondLine => {
	const speaking = connectRedis(redisUrl);
	const hearing = connectRedis(redisUrl, {isListening: true});
	for (const connection of [speaking, hearing]) {
		// The limits report an outage.
		connection.on('error', () => {});
	}

	// It subscribes again by itself after an outage.
	hearing.subscribe(CHANNEL).catch(() => {});
	return {
		say: (text) => {
			speaking.publish(CHANNEL, text).catch(() => {});
		},
		onText: (listener) => {
			hearing.on('message', (_channel: string, text: string) => listener(text));
		},
		close: () => {
			speaking.disconnect();
			hearing.disconnect();
		},
	};
};
