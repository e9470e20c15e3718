import {randomUUID} from 'node:crypto';
import type {RedisConnection} from './connect-redis.ts';

/** The machines on one Redis: this one, and the others that have sent a heartbeat lately. */
export type Machines = {self: string; others(): ReadonlyArray<{id: string; processes: number}>};

/** The interval of a machine's heartbeat, and the silence after which it counts as gone. */
export const BEAT_MS = 1000;
const SILENT_MS = 5000;

const KEY = 'oplink:machines';

// A full Redis refuses only the first write of a script, and only if it takes memory.
const SCRIPT = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANGE', KEYS[1], 0, -1)
`;

/** Checks that Redis takes the writes that limits need, by a heartbeat under a key that nobody reads. */
export const checkWrites = async (redis: RedisConnection): Promise<void> => {
	await redis.eval(SCRIPT, 1, 'oplink:machines:check', 'check', SILENT_MS);
};

/** Keeps this machine in the list in Redis. @param processes how many answer on this machine. */
export const createRedisMachines = ({redis, processes}: {redis: RedisConnection; processes: number}) => {
	const self = randomUUID();
	const member = `${self} ${processes}`;
	let others: ReturnType<Machines['others']> = [];
	return {
		self,
		others: () => others,
		/** Rejects if Redis cannot be reached or accepts no writes; a Cluster, if one of its nodes does not answer. */
		beat: async (): Promise<void> => {
			if ('nodes' in redis) {
				await Promise.all(redis.nodes('master').map((node) => node.ping()));
			}

			const members = (await redis.eval(SCRIPT, 1, KEY, member, SILENT_MS)) as string[];
			others = members
				.map((member) => member.split(' '))
				.map(([id = '', count]) => ({id, processes: Number(count)}))
				.filter(({id}) => id !== self);
		},
		leave: async (): Promise<void> => {
			await redis.zrem(KEY, member);
		},
	};
};
