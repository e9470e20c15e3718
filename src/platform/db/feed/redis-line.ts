import {connectRedis, keepConnected} from '../../connect-redis.ts';
import type {PeerLine} from './write-promises.ts';

const CHANNEL = 'oplink:processes';

/** The line through Redis, one behind Sentinels, or a Cluster. */
export const createRedisLine = (redisUrl: string): PeerLine => {
	const publisher = connectRedis(redisUrl);
	const subscriber = connectRedis(redisUrl, {isListening: true});
	let isClosed = false;
	for (const connection of [publisher, subscriber]) {
		keepConnected(connection, () => !isClosed);
		// The limits report an outage.
		connection.on('error', () => {});
	}

	// At each connection, because a subscription that is requested without one is lost in a long outage.
	subscriber.on('ready', () => {
		subscriber.subscribe(CHANNEL).catch(() => {});
	});
	return {
		say: (text) => {
			publisher.publish(CHANNEL, text).catch(() => {});
		},
		onText: (listener) => {
			subscriber.on('message', (_channel: string, text: string) => listener(text));
		},
		close: () => {
			isClosed = true;
			publisher.disconnect();
			subscriber.disconnect();
		},
	};
};
