import type {ClickJournal} from '../clicks/journal/click-journal.ts';
import {createPendingRequests} from './pending-requests.ts';

/**
 * A request to drain clicks, or the report that they are drained; both ways between a worker and its supervisor.
 * `mentioned`: only clicks that mention one of these texts; empty: all. `inStore`: their rows, too.
 */
export type ClicksMessage = {is: 'clicks'; request: number} & (
	| {mentioned: string[]; inStore: boolean}
	| {drained: true}
);

/** After this timeout a worker is assumed to hang, and its clicks are not waited for. */
const SILENT_MS = 1000;

/** Waits until the other workers' clicks are in the tables. */
export type ClicksOfOthers = {
	settled(mentioned: string[], inStore: boolean): Promise<void>;
	receive(message: ClicksMessage, journal: ClickJournal): void;
};

/** Requests of one turn; null: all clicks. */
type Batch = {mentioned: string[] | null; drained: Promise<unknown>};

/** The worker's side. Calls of one turn of the event loop share one message. */
export const createClicksOfOthers = (send: (message: ClicksMessage) => void): ClicksOfOthers => {
	const requests = createPendingRequests<true>(2 * SILENT_MS);
	const next = new Map<boolean, Batch>();

	const ask = (inStore: boolean): Batch => {
		const batch: Batch = {
			mentioned: [],
			drained: requests.ask((request) => {
				setImmediate(() => {
					next.delete(inStore);
					send({is: 'clicks', request, mentioned: batch.mentioned ?? [], inStore});
				});
			}),
		};
		return batch;
	};

	return {
		settled: async (mentioned, inStore) => {
			const batch = next.get(inStore) ?? ask(inStore);
			next.set(inStore, batch);
			// Without a text, all clicks.
			batch.mentioned = mentioned.length === 0 ? null : (batch.mentioned?.concat(mentioned) ?? null);
			await batch.drained;
		},
		receive: async (message, journal) => {
			const {request} = message;
			if ('drained' in message) {
				requests.resolve(request, true);
			} else {
				// Without a database nothing can be read either, which the requesting worker notices itself.
				await journal.settledHere(message.mentioned, message.inStore).catch(() => {});
				send({is: 'clicks', request, drained: true});
			}
		},
	};
};

/** The supervisor's side: forwards each request to the other ready workers. */
export const createClicksOfWorkers = () => {
	const members = new Set<(message: ClicksMessage) => void>();
	const requests = createPendingRequests<true>(SILENT_MS);
	return {
		join: (send: (message: ClicksMessage) => void) => {
			members.add(send);
			return {
				receive: async (message: ClicksMessage): Promise<void> => {
					const {request} = message;
					if ('drained' in message) {
						requests.resolve(request, true);
						return;
					}

					const others = [...members].filter((other) => other !== send);
					await Promise.all(
						others.map((other) =>
							requests.ask((forwarded) =>
								other({is: 'clicks', request: forwarded, mentioned: message.mentioned, inStore: message.inStore}),
							),
						),
					);
					send({is: 'clicks', request, drained: true});
				},
				left: (): void => {
					members.delete(send);
				},
			};
		},
	};
};
