import {connectRedis, keepConnected} from '../../limits/connect-redis.ts';
import type {PeerLine} from './write-promises.ts';

const CHANNEL = 'oplink:processes';

/** The line through Redis, one behind Sentinels, or a Cluster. */
export const createRedisLine = (redisUrl: string): PeerLine => {
	const speaking = connectRedis(redisUrl);
	const hearing = connectRedis(redisUrl, {isListening: true});
	let isClosed = false;
	for (const connection of [speaking, hearing]) {
		keepConnected(connection, () => !isClosed);
		// The limits report an outage.
		connection.on('error', () => {});
	}

	// At each connection: a subscription that is asked for without one is lost in a long outage.
	hearing.on('ready', () => {
		hearing.subscribe(CHANNEL).catch(() => {});
	});
	return {
		say: (text) => {
			speaking.publish(CHANNEL, text).catch(() => {});
		},
		onText: (listener) => {
			hearing.on('message', (_channel: string, text: string) => listener(text));
		},
		close: () => {
			isClosed = true;
			speaking.disconnect();
			hearing.disconnect();
		},
	};
};
