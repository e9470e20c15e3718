import type {ClickJournal} from '../clicks/journal/click-journal.ts';
import {createQuestions} from './questions.ts';

/** A worker's message: which clicks it wants the others to drain, or that it has drained what it was asked for. */
export type ClicksOfWorker = {is: 'clicks'; question: number; mentioned?: string[]; drained?: true};

/** A supervisor's message: which clicks to drain, or that all others have drained those that were asked for. */
export type ClicksOfSupervisor = {is: 'clicks'; question: number; mentioned?: string[]; drained?: true};

/** A worker that is silent for so long hangs, and its clicks are not waited for. */
const SILENT_MS = 1000;

/** Waits until clicks that the other workers keep can be read from the tables. */
export type ClicksOfOthers = {
	settled(mentioned: string[]): Promise<void>;
	hear(message: ClicksOfSupervisor, journal: ClickJournal): void;
};

/** A worker's end. Calls of one turn of the event loop are one message. */
export const createClicksOfOthers = (send: (message: ClicksOfWorker) => void): ClicksOfOthers => {
	const questions = createQuestions<true>(2 * SILENT_MS);
	let next: {mentioned: string[] | null; drained: Promise<unknown>} | null = null;

	const ask = (): {mentioned: string[] | null; drained: Promise<unknown>} => {
		const asked: {mentioned: string[] | null; drained: Promise<unknown>} = {
			mentioned: [],
			drained: questions.ask((question) => {
				setImmediate(() => {
					next = null;
					send({is: 'clicks', question, mentioned: asked.mentioned ?? []});
				});
			}),
		};
		return asked;
	};

	return {
		settled: async (mentioned) => {
			next ??= ask();
			// Without a text all are meant.
			next.mentioned = mentioned.length === 0 ? null : (next.mentioned?.concat(mentioned) ?? null);
			await next.drained;
		},
		hear: async ({question, mentioned, drained}, journal) => {
			if (drained) {
				questions.answered(question, true);
			} else {
				// Without a database nothing can be read either, which the one who asks finds out by itself.
				await journal.settledHere(mentioned ?? []).catch(() => {});
				send({is: 'clicks', question, drained: true});
			}
		},
	};
};

/** The supervisor's end: passes each question on to the other workers that answer requests. */
export const createClicksOfWorkers = () => {
	const members = new Set<(message: ClicksOfSupervisor) => void>();
	const questions = createQuestions<true>(SILENT_MS);
	return {
		join: (send: (message: ClicksOfSupervisor) => void) => {
			members.add(send);
			return {
				hear: async ({question, mentioned, drained}: ClicksOfWorker): Promise<void> => {
					if (drained) {
						questions.answered(question, true);
						return;
					}

					const others = [...members].filter((other) => other !== send);
					await Promise.all(
						others.map((other) =>
							questions.ask((passed) => other({is: 'clicks', question: passed, mentioned: mentioned ?? []})),
						),
					);
					send({is: 'clicks', question, drained: true});
				},
				left: (): void => {
					members.delete(send);
				},
			};
		},
	};
};
