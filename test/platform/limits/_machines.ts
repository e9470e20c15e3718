import {randomUUID} from 'node:crypto';
import type {ExecutionContext} from 'ava';
import {createClock} from '../../../src/platform/clock.ts';
import {limits} from '../../../src/platform/config/limits.ts';
import {createWindows} from '../../../src/platform/limits/windows.ts';
import {until} from '../../helpers/redis-server.ts';

export const OUTAGE = 'warn: Redis is unavailable; enforcing rate limits on this machine';
export const RECOVERY = 'info: Redis is back; sharing rate limits';

export const limit = limits.regenerateKey;

/** A machine's limiter on that Redis, with the real clock, its log, and the reasons that it gives there. */
export const startMachine = (t: ExecutionContext, redisUrl: string) => {
	const logged: string[] = [];
	const reasons: string[] = [];
	const log = {
		warn: ({err}: {err?: Error}, message: string) => {
			logged.push(`warn: ${message}`);
			reasons.push(`${err}`);
		},
		info: (message: string) => logged.push(`info: ${message}`),
	};
	const limiter = createWindows({redisUrl, clock: createClock(0), log: log as never});
	t.teardown(() => limiter.close());
	return {limiter, logged, reasons};
};

export type Machine = ReturnType<typeof startMachine>;

export const isAway = ({logged}: Machine): boolean => logged.at(-1) === OUTAGE;

/** How many of `each` requests to every machine at once are admitted. */
export const admitted = async (machines: Machine[], subject: string, each: number): Promise<number> => {
	const take = ({limiter}: Machine) => Array.from({length: each}, () => limiter.take(limit, subject));
	return (await Promise.all(machines.flatMap(take))).filter((wait) => wait === 0).length;
};

/** Waits until Redis decides for all of them. */
export const untilUsed = (machines: Machine[]): Promise<void> =>
	until(async () => {
		const pings = await Promise.allSettled(machines.map(({limiter}) => limiter.ping()));
		return pings.every(({status}) => status === 'fulfilled') && !machines.some(isAway);
	});

/** Two machines that Redis decides for. */
export const startMachines = async (t: ExecutionContext, redisUrl: string): Promise<Machine[]> => {
	const machines = [startMachine(t, redisUrl), startMachine(t, redisUrl)];
	await untilUsed(machines);
	return machines;
};

/** What `each` gives of a new subject in a run without an outage: on a busy machine an answer may come too late. */
export const undisturbed = async (machines: Machine[], each: number): Promise<{subject: string; count: number}> => {
	const outages = () => machines.map(({logged}) => logged.length).join();
	for (;;) {
		await untilUsed(machines);
		const before = outages();
		const subject = randomUUID();
		const count = await admitted(machines, subject, each);
		if (outages() === before) {
			return {subject, count};
		}
	}
};
