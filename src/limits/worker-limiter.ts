import type {Clock} from '../clock.ts';
import {createPendingRequests} from '../start/pending-requests.ts';
import {createFreeAdmissions} from './keeper.ts';
import type {Limiter} from './limiter.ts';
import type {Limit} from './limits.ts';
import {createMemoryLimiter} from './memory-limiter.ts';

/** A worker's message: that it joins or leaves, its requests, and how many it admitted freely of a closed subject. */
export type OfWorker = {
	is: 'limits';
	state?: 'joins' | 'leaves';
	asks?: Ask[];
	closed?: {request: number; admitted: number};
};

/** A request to count one call; without a limit, to say whether shared windows decide. */
export type Ask = {request: number; limit?: Limit; subject?: string};

/** A supervisor's message: that the worker has joined, the waits it asked for, and which subject to close. */
export type OfSupervisor = {
	is: 'limits';
	joined?: true;
	answers?: Array<{request: number; wait: number}>;
	close?: {request: number; limit: Limit; subject: string};
};

/** The answer where shared windows do not decide. */
export const CANNOT_DECIDE = -1;

/** A supervisor that is silent this long hangs: until it answers, the worker decides by its own windows. */
const SILENT_MS = 2000;

const send = (message: OfWorker): void => {
	// A request that cannot be sent runs into its timeout.
	process.send?.(message, undefined, undefined, () => {});
};

/** Sends all items of one turn of the event loop together. */
export const together = <T>(sendAll: (items: T[]) => void): ((item: T) => void) => {
	let items: T[] = [];
	return (item) => {
		if (items.push(item) === 1) {
			setImmediate(() => {
				sendAll(items);
				items = [];
			});
		}
	};
};

/**
 * The limiter of one of several processes: its supervisor keeps the windows of them all.
 */
export const createWorkerLimiter = ({clock, processes}: {clock: Clock; processes: number}): Limiter => {
	const free = createFreeAdmissions({clock, processes});
	const own = createMemoryLimiter({clock});
	const requests = createPendingRequests<number>(SILENT_MS);
	const add = together((asks: Ask[]) => send({is: 'limits', asks}));

	const ask = (about: Omit<Ask, 'request'>): Promise<number | null> =>
		requests.ask((request) => add({...about, request}));

	const hear = (message: {is: unknown}): void => {
		if (message.is !== 'limits') {
			return;
		}

		const {joined, answers = [], close} = message as OfSupervisor;
		if (joined) {
			free.open();
		}

		for (const {request, wait} of answers) {
			requests.resolve(request, wait);
		}

		if (close !== undefined) {
			const admitted = free.close(close.limit, close.subject);
			send({is: 'limits', closed: {request: close.request, admitted}});
		}
	};
	process.on('message', hear);
	send({is: 'limits', state: 'joins'});

	return {
		take: (limit, subject) =>
			free.take(limit, subject) ? 0 : ask({limit, subject}).then((wait) => wait ?? own.take(limit, subject)),
		ping: async () => {
			if ((await ask({})) !== 0) {
				throw new Error('the shared windows do not decide');
			}
		},
		close: async () => {
			send({is: 'limits', state: 'leaves'});
			process.off('message', hear);
		},
	};
};
