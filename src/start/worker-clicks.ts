import type {ClickJournal} from '../clicks/journal/click-journal.ts';
import {createPendingRequests} from './pending-requests.ts';

/** A worker's message: the clicks for the others to drain, or that it has drained the requested ones. */
export type ClicksOfWorker = {is: 'clicks'; question: number; mentioned?: string[]; drained?: true};

/** A supervisor's message: the clicks to drain, or that all others have drained the requested ones. */
export type ClicksOfSupervisor = {is: 'clicks'; question: number; mentioned?: string[]; drained?: true};

/** After this timeout a worker is assumed to hang, and its clicks are not waited for. */
const SILENT_MS = 1000;

/** Waits until the other workers' clicks are in the tables. */
export type ClicksOfOthers = {
	settled(mentioned: string[]): Promise<void>;
	receive(message: ClicksOfSupervisor, journal: ClickJournal): void;
};

/** The worker's side. Calls of one turn of the event loop share one message. */
export const createClicksOfOthers = (send: (message: ClicksOfWorker) => void): ClicksOfOthers => {
	const requests = createPendingRequests<true>(2 * SILENT_MS);
	let next: {mentioned: string[] | null; drained: Promise<unknown>} | null = null;

	const ask = (): {mentioned: string[] | null; drained: Promise<unknown>} => {
		const batch: {mentioned: string[] | null; drained: Promise<unknown>} = {
			mentioned: [],
			drained: requests.ask((question) => {
				setImmediate(() => {
					next = null;
					send({is: 'clicks', question, mentioned: batch.mentioned ?? []});
				});
			}),
		};
		return batch;
	};

	return {
		settled: async (mentioned) => {
			next ??= ask();
			// Without a text, all clicks.
			next.mentioned = mentioned.length === 0 ? null : (next.mentioned?.concat(mentioned) ?? null);
			await next.drained;
		},
		receive: async ({question, mentioned, drained}, journal) => {
			if (drained) {
				requests.resolve(question, true);
			} else {
				// Without a database nothing can be read either, which the requesting worker notices itself.
				await journal.settledHere(mentioned ?? []).catch(() => {});
				send({is: 'clicks', question, drained: true});
			}
		},
	};
};

/** The supervisor's side: forwards each request to the other ready workers. */
export const createClicksOfWorkers = () => {
	const members = new Set<(message: ClicksOfSupervisor) => void>();
	const requests = createPendingRequests<true>(SILENT_MS);
	return {
		join: (send: (message: ClicksOfSupervisor) => void) => {
			members.add(send);
			return {
				receive: async ({question, mentioned, drained}: ClicksOfWorker): Promise<void> => {
					if (drained) {
						requests.resolve(question, true);
						return;
					}

					const others = [...members].filter((other) => other !== send);
					await Promise.all(
						others.map((other) =>
							requests.ask((passed) => other({is: 'clicks', question: passed, mentioned: mentioned ?? []})),
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
