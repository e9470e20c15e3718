import type {Clock} from '../clock.ts';
import {createPendingRequests} from '../start/pending-requests.ts';
import {createFreeAdmissions} from './keeper.ts';
import type {Limiter} from './limiter.ts';
import {limitNamed} from './limits.ts';
import {createMemoryLimiter} from './memory-limiter.ts';

/** A worker's message: that it joins or leaves, its questions, and how many it admitted freely of a closed subject. */
export type OfWorker = {
	is: 'limits';
	state?: 'joins' | 'leaves';
	asks?: Ask[];
	closed?: {question: number; admitted: number};
};

/** A question about a request; without a limit, whether shared windows decide. */
export type Ask = {question: number; limit?: string; subject?: string};

/** A supervisor's message: that the worker has joined, the waits it asked for, and which subject to close. */
export type OfSupervisor = {
	is: 'limits';
	joined?: true;
	answers?: Array<{question: number; wait: number}>;
	close?: {question: number; limit: string; subject: string};
};

/** The answer to a question whether shared windows decide, where they do not. */
export const CANNOT_DECIDE = -1;

/** A supervisor that is silent this long hangs: until it answers, the worker decides by its own windows. */
const SILENT_MS = 2000;

const send = (message: OfWorker): void => {
	// A question that cannot be sent runs into its deadline.
	process.send?.(message, undefined, undefined, () => {});
};

/**
 * The limiter of one of several processes: its supervisor keeps the windows of them all. Questions of one turn of the
 * event loop are one message.
 */
export const createWorkerLimiter = ({clock, processes}: {clock: Clock; processes: number}): Limiter => {
	const free = createFreeAdmissions({clock, processes});
	const own = createMemoryLimiter({clock});
	const questions = createPendingRequests<number>(SILENT_MS);
	let asks: Ask[] = [];

	const ask = (about: Omit<Ask, 'question'>): Promise<number | null> =>
		questions.ask((question) => {
			if (asks.push({...about, question}) === 1) {
				setImmediate(() => {
					send({is: 'limits', asks});
					asks = [];
				});
			}
		});

	const hear = (message: {is: unknown}): void => {
		if (message.is !== 'limits') {
			return;
		}

		const {joined, answers = [], close} = message as OfSupervisor;
		if (joined) {
			free.open();
		}

		for (const {question, wait} of answers) {
			questions.resolve(question, wait);
		}

		if (close !== undefined) {
			const admitted = free.close(limitNamed(close.limit), close.subject);
			send({is: 'limits', closed: {question: close.question, admitted}});
		}
	};
	process.on('message', hear);
	send({is: 'limits', state: 'joins'});

	return {
		take: (limit, subject) =>
			free.take(limit, subject)
				? 0
				: ask({limit: limit.name, subject}).then((wait) => wait ?? own.take(limit, subject)),
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
