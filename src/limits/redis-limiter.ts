import {createHash} from 'node:crypto';
import type {Redis, RedisOptions} from 'ioredis';
import type {Clock} from '../clock.ts';
import type {Limiter} from './sliding-window.ts';

/** Where a decision's time comes from. Processes differ in their clocks, so in production it is the server's. */
export type TimeSource = 'server' | Clock;

/**
 * The log of one subject is a list of the times (milliseconds) of its latest `max` admitted requests, about 10 bytes
 * each: 10 KB for 1,000 per second, where a sorted set takes ten times that. A request is admitted when the `max`-th
 * latest is a window ago. Where the time ran backwards (a set clock, a failover) the log is moved along with it, so
 * that no caller waits longer than one window. Returns 0, or the milliseconds until a request can be admitted.
 */
const SCRIPT = `
local log, max, window, margin = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[4])
if not now then
	local time = redis.call('TIME')
	now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local lead = tonumber(redis.call('LINDEX', log, -1) or now) - now
if lead > 0 then
	local times = redis.call('LRANGE', log, 0, -1)
	redis.call('DEL', log)
	for _, time in ipairs(times) do
		redis.call('RPUSH', log, string.format('%.0f', tonumber(time) - lead))
	end
	redis.call('PEXPIRE', log, window + margin)
end

local deciding = redis.call('LINDEX', log, -max)
if deciding then
	local wait = tonumber(deciding) + window - now
	if wait > 0 then
		return wait
	end
end

redis.call('RPUSH', log, string.format('%.0f', now))
if deciding then
	redis.call('LTRIM', log, -max, -1)
end
redis.call('PEXPIRE', log, window + margin)
return 0
`;

const SCRIPT_HASH = createHash('sha1').update(SCRIPT).digest('hex');

// A log outlives its window a little, and much longer where the caller's clock may stand still.
const EXPIRY_MARGIN = {server: 1000, clock: 600_000};

/**
 * Options of a connection whose commands answer soon or fail soon, and never wait for a server to come back: no queue
 * while there is no connection, no second sending, and a connection that stays silent is given up and made anew.
 */
export const failFastOptions = {
	enableOfflineQueue: false,
	autoResendUnfulfilledCommands: false,
	maxRetriesPerRequest: 0,
	lazyConnect: false,
	connectTimeout: 1000,
	commandTimeout: 250,
	socketTimeout: 2000,
	retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 5), 1000),
} satisfies RedisOptions;

/**
 * A limiter whose windows are shared by all processes on one Redis: one atomic script per decision. Rejects where the
 * server does not decide; see createLimiter for what happens then. The connection stays the caller's.
 */
export const createRedisLimiter = ({redis, time}: {redis: Redis; time: TimeSource}): Limiter => ({
	take: async ({name, max, windowSeconds}, subject) => {
		const key = `oplink:limit:${name}:${subject}`;
		const parameters =
			time === 'server'
				? [max, windowSeconds * 1000, EXPIRY_MARGIN.server]
				: [max, windowSeconds * 1000, EXPIRY_MARGIN.clock, time.now().getTime()];
		const wait = await redis.evalsha(SCRIPT_HASH, 1, key, ...parameters).catch((error: Error) => {
			// A server that was restarted does not know the script yet; EVAL teaches it.
			if (error.message.startsWith('NOSCRIPT')) {
				return redis.eval(SCRIPT, 1, key, ...parameters);
			}

			throw error;
		});
		return Math.ceil(Number(wait) / 1000);
	},
	ping: async () => {
		await redis.ping();
	},
	close: async () => {},
});
