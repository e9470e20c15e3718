import type {Clock} from '../clock.ts';
import {createFreeAdmissions} from './free-admissions.ts';
import type {Limiter} from './limiter.ts';
import {type Limit, limitNamed} from './limits.ts';
import {createMemoryLimiter} from './memory-limiter.ts';

/** What a worker says: that it is there or goes, what it asks, and what it admitted freely of a subject that it closed. */
export type OfWorker = {
	is: 'limits';
	state?: 'joins' | 'leaves';
	asks?: Ask[];
	closed?: {question: number; admitted: number};
};

/** A question about a request; without a limit, whether shared windows decide. */
export type Ask = {question: number; limit?: string; subject?: string};

/** What its supervisor says: that it is known, the waits it asked for, and which subject to close. */
export type OfSupervisor = {
	is: 'limits';
	joined?: true;
	answers?: Array<{question: number; wait: number}>;
	close?: {question: number; limit: string; subject: string};
};

/** The answer to a question whether shared windows decide, where they do not. */
export const CANNOT_DECIDE = -1;

/** A worker's channel to its supervisor. */
export type Channel = {
	send(message: OfWorker): void;
	/** @returns what ends it. */
	onMessage(listener: (message: OfSupervisor) => void): () => void;
};

/** A supervisor that is silent for so long hangs: until it answers again the worker decides by windows of its own. */
const SILENT_MS = 2000;

/**
 * The limiter of one of several processes: its supervisor keeps the windows of them all. What is asked in one turn of the
 * event loop is one message.
 */
export const createWorkerLimiter = ({
	channel,
	clock,
	processes,
}: {
	channel: Channel;
	clock: Clock;
	processes: number;
}): Limiter => {
	const free = createFreeAdmissions({clock, processes});
	const own = createMemoryLimiter({clock});
	const waiting = new Map<number, (wait: number | null) => void>();
	let asks: Ask[] = [];
	let latest = 0;

	const settle = (question: number, wait: number | null): void => {
		waiting.get(question)?.(wait);
		waiting.delete(question);
	};

	const flush = (): void => {
		const sent = asks;
		asks = [];
		channel.send({is: 'limits', asks: sent});
		setTimeout(() => {
			for (const {question} of sent) {
				settle(question, null);
			}
		}, SILENT_MS).unref();
	};

	const ask = (asked: Omit<Ask, 'question'>): Promise<number | null> =>
		new Promise((resolve) => {
			latest += 1;
			waiting.set(latest, resolve);
			if (asks.push({...asked, question: latest}) === 1) {
				setImmediate(flush);
			}
		});

	const askToTake = async (limit: Limit, subject: string): Promise<number> =>
		(await ask({limit: limit.name, subject})) ?? own.take(limit, subject);

	const end = channel.onMessage(({joined, answers = [], close}) => {
		if (joined) {
			free.open();
		}

		for (const {question, wait} of answers) {
			settle(question, wait);
		}

		if (close !== undefined) {
			const admitted = free.close(limitNamed(close.limit), close.subject);
			channel.send({is: 'limits', closed: {question: close.question, admitted}});
		}
	});
	channel.send({is: 'limits', state: 'joins'});

	return {
		take: (limit, subject) => (free.take(limit, subject) ? 0 : askToTake(limit, subject)),
		ping: async () => {
			const wait = await ask({});
			if (wait !== 0) {
				throw new Error('the shared windows do not decide');
			}
		},
		close: async () => {
			channel.send({is: 'limits', state: 'leaves'});
			end();
		},
	};
};
