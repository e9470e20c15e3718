import type {Clock} from '../clock.ts';
import {createPendingRequests} from '../pending-requests.ts';
import type {Check, Limiter} from './limiter.ts';
import {createMemoryLimiter} from './memory-limiter.ts';
import {oncePerTurn} from './once-per-turn.ts';

/** A worker's requests to count. A check of null only asks whether the shared windows can decide. */
export type LimitChecks = {type: 'limits'; request: number; checks: ReadonlyArray<Check | null>};

/** The supervisor's answer: the wait of each check, in order. */
export type LimitWaits = {type: 'limits'; request: number; waits: readonly number[]};

/** Answered instead of a wait if the shared windows cannot decide. */
const CANNOT_DECIDE = -1;

/** After this time without an answer the supervisor counts as hanging. */
const TIMEOUT_MS = 2000;

/**
 * The limiter of one of several processes: its supervisor keeps the windows of them all. The checks of one turn of the
 * event loop are one message. While the supervisor hangs, the worker decides by its own windows.
 */
export const createWorkerLimiter = (
	clock: Clock,
	send: (message: LimitChecks) => void,
): Limiter & {receive(message: LimitWaits): void} => {
	const own = createMemoryLimiter({clock});
	const requests = createPendingRequests<readonly number[]>(TIMEOUT_MS);
	let isSilent = false;
	const ask = oncePerTurn(async (checks: LimitChecks['checks']): Promise<ReadonlyArray<number | null>> => {
		const waits = await requests.ask((request) => send({type: 'limits', request, checks}));
		isSilent ||= waits === null;
		return waits ?? checks.map(() => null);
	});

	return {
		take: (limit, subject) =>
			isSilent ? own.take(limit, subject) : ask({limit, subject}).then((wait) => wait ?? own.take(limit, subject)),
		ping: async () => {
			if ((await ask(null)) !== 0) {
				throw new Error('the shared windows do not decide');
			}
		},
		close: () => own.close(),
		receive: ({request, waits}) => {
			// Even if the answer is too late: the supervisor answers again.
			isSilent = false;
			requests.resolve(request, waits);
		},
	};
};

/** The supervisor's answer to a worker. @param limiter the windows of the machine. */
export const decideForWorker = async (limiter: Limiter, {request, checks}: LimitChecks): Promise<LimitWaits> => {
	const waitOf = (check: Check | null): Promise<number> | number =>
		check === null
			? limiter.ping().then(
					() => 0,
					() => CANNOT_DECIDE,
				)
			: limiter.take(check.limit, check.subject);
	return {type: 'limits', request, waits: await Promise.all(checks.map(waitOf))};
};
