import {createHash} from 'node:crypto';
import type {Clock} from '../clock.ts';
import type {RedisConnection} from '../connect-redis.ts';
import type {Check} from './limiter.ts';
import {oncePerTurn} from './once-per-turn.ts';

/** The source of a decision's time: in production the Redis server, because the clocks of machines differ. */
export type TimeSource = 'server' | Clock;

/**
 * The log of one subject is a list of the times (milliseconds) of its latest `max` admitted requests, about 10 bytes
 * each: 10 KB for 1,000 per second; a sorted set takes ten times that. A request is admitted when the `max`-th
 * latest is a window ago. If the time ran backwards (a set clock, a failover), the log is moved with it, because no
 * caller may wait longer than one window. Returns for each key 0, or the milliseconds until a request can be
 * admitted. A repeated key is counted as often.
 */
const SCRIPT = `
local margin, now = tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
	local time = redis.call('TIME')
	now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local text = string.format('%.0f', now)

local waits = {}
for index, log in ipairs(KEYS) do
	local max, window = tonumber(ARGV[2 * index + 1]), tonumber(ARGV[2 * index + 2])
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
	waits[index] = deciding and math.max(0, tonumber(deciding) + window - now) or 0
	if waits[index] == 0 then
		if redis.call('RPUSH', log, text) > max then
			redis.call('LTRIM', log, -max, -1)
		end
		redis.call('PEXPIRE', log, window + margin)
	end
end
return waits
`;

const SCRIPT_HASH = createHash('sha1').update(SCRIPT).digest('hex');

// A log outlives its window a little, and much longer if the caller's clock may stand still.
const EXPIRY_MARGIN = {server: 1000, clock: 600_000};

// A Cluster chooses the node of a key by the text in braces.
const keyOf = ({limit, subject}: Check): string => `oplink:limit:{${limit.name}:${subject}}`;

/**
 * A limiter whose windows are shared by all machines on one Redis or Cluster. The checks of one turn of the event loop
 * are one atomic script; in a Cluster, those of one key, because keys may be on different nodes. Rejects if the server
 * does not decide; createWindows handles that. The caller closes the connection.
 */
export const createRedisLimiter = ({
	redis,
	time,
}: {
	redis: RedisConnection;
	time: TimeSource;
}): {take(limit: Check['limit'], subject: string): Promise<number>} => {
	const decide = async (checks: readonly Check[]): Promise<number[]> => {
		const timing = time === 'server' ? [EXPIRY_MARGIN.server, ''] : [EXPIRY_MARGIN.clock, time.now().getTime()];
		const sizes = checks.flatMap(({limit: {max, windowSeconds}}) => [max, windowSeconds * 1000]);
		const parameters = [checks.length, ...checks.map(keyOf), ...timing, ...sizes] as const;
		const waits = await redis.evalsha(SCRIPT_HASH, ...parameters).catch((error: Error) => {
			// A restarted server does not know the script; EVAL loads it.
			if (error.message.startsWith('NOSCRIPT')) {
				return redis.eval(SCRIPT, ...parameters);
			}

			throw error;
		});
		return (waits as number[]).map((wait) => Math.ceil(wait / 1000));
	};
	const decideTogether = oncePerTurn(decide, 'nodes' in redis ? keyOf : undefined);
	return {take: (limit, subject) => decideTogether({limit, subject})};
};

/**
 * Checks that Redis accepts the writes that limits need. Rejects if it cannot be reached, is read-only or full; a
 * Cluster also if one of its nodes does not answer.
 */
export const checkWrites = async (redis: RedisConnection): Promise<void> => {
	if ('nodes' in redis) {
		await Promise.all(redis.nodes('master').map((node) => node.ping()));
	}

	await redis.set('oplink:limits:check', '', 'PX', 1000);
};
