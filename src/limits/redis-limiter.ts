import {createHash} from 'node:crypto';
import type {Clock} from '../clock.ts';
import type {RedisConnection} from './connect-redis.ts';
import type {Limiter} from './limiter.ts';
import {freeOf, type Limit} from './limits.ts';
import type {Machines} from './redis-machines.ts';

/** The source of a decision's time: in production the Redis server, because the clocks of machines differ. */
export type TimeSource = 'server' | Clock;

/**
 * The log of one subject is a list of the times (milliseconds) of its latest `max` admitted requests, about 10 bytes
 * each: 10 KB for 1,000 per second, where a sorted set takes ten times that. A request is admitted when the `max`-th
 * latest is a window ago. Where the time ran backwards (a set clock, a failover) the log is moved along with it, so
 * that no caller waits longer than one window. Returns 0, or the milliseconds until a request can be admitted.
 *
 * If processes admit some requests freely (`self` is not empty), the script reserves what those of another machine may
 * admit, until that machine has asked about the subject: then they admit nothing freely for longer than a window.
 */
const SCRIPT = `
local log, max, window, margin = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, before, self = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
if not now then
	local time = redis.call('TIME')
	now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local text = string.format('%.0f', now)

local lead = tonumber(redis.call('LINDEX', log, -1) or now) - now
if lead > 0 then
	local times = redis.call('LRANGE', log, 0, -1)
	redis.call('DEL', log)
	for _, time in ipairs(times) do
		redis.call('RPUSH', log, string.format('%.0f', tonumber(time) - lead))
	end
	redis.call('PEXPIRE', log, window + margin)
end

local open = max
if self ~= '' then
	for other = 7, #ARGV, 2 do
		local asked = tonumber(redis.call('HGET', KEYS[2], ARGV[other]) or 0)
		if asked + window <= now then
			open = open - tonumber(ARGV[other + 1])
		end
	end
	open = math.max(open, math.ceil(max / 2))
	redis.call('HSET', KEYS[2], self, text)
	redis.call('PEXPIRE', KEYS[2], window + margin)
end

for _ = 1, before do
	redis.call('RPUSH', log, text)
end

local wait = 0
local deciding = redis.call('LINDEX', log, -open)
if deciding then
	wait = math.max(0, tonumber(deciding) + window - now)
end

if wait == 0 then
	redis.call('RPUSH', log, text)
	before = before + 1
end
if before > 0 then
	redis.call('LTRIM', log, -max, -1)
	redis.call('PEXPIRE', log, window + margin)
end
return wait
`;

const SCRIPT_HASH = createHash('sha1').update(SCRIPT).digest('hex');

// A log outlives its window a little, and much longer if the caller's clock may stand still.
const EXPIRY_MARGIN = {server: 1000, clock: 600_000};

/** The script's arguments: this machine, and the number of requests that each other machine may admit freely. */
const freeElsewhere = (limit: Limit, machines: Machines | null): Array<string | number> =>
	machines === null || limit.free === undefined
		? ['']
		: [machines.self, ...machines.others().flatMap(({id, processes}) => [id, processes * freeOf(limit, processes)])];

/**
 * A limiter whose windows are shared by all machines on one Redis or Cluster: one atomic script per decision. Rejects if the
 * server does not decide; createWindows handles that. The caller closes the connection.
 * @param machines the machines that admit requests freely; null: none.
 */
export const createRedisLimiter = ({
	redis,
	time,
	machines = null,
}: {
	redis: RedisConnection;
	time: TimeSource;
	machines?: Machines | null;
}): Pick<Limiter, 'take'> => ({
	take: async (limit, subject, before = 0) => {
		const {name, max, windowSeconds} = limit;
		// A Cluster keeps both keys of the script on one node by what stands in braces.
		const key = `oplink:limit:{${name}:${subject}}`;
		const timing =
			time === 'server'
				? [windowSeconds * 1000, EXPIRY_MARGIN.server, '']
				: [windowSeconds * 1000, EXPIRY_MARGIN.clock, time.now().getTime()];
		const parameters = [2, key, `${key}:asked`, max, ...timing, before, ...freeElsewhere(limit, machines)] as const;
		const wait = await redis.evalsha(SCRIPT_HASH, ...parameters).catch((error: Error) => {
			// A restarted server does not know the script; EVAL loads it.
			if (error.message.startsWith('NOSCRIPT')) {
				return redis.eval(SCRIPT, ...parameters);
			}

			throw error;
		});
		return Math.ceil(Number(wait) / 1000);
	},
});
