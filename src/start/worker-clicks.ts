import {oncePerTurn} from '../platform/limits/once-per-turn.ts';
import {createPendingRequests} from '../platform/pending-requests.ts';
import type {ClickJournal, Flush} from '../visits/clicks/journal/click-journal.ts';

/** A request to drain clicks, or the report that they are drained; both ways between a worker and its supervisor. */
export type ClicksMessage = {type: 'clicks'; request: number} & ({flush: Flush} | {drained: true});

/** After this timeout a worker is assumed to hang, and its clicks are skipped. */
const TIMEOUT_MS = 1000;

/** Waits until the other workers' clicks are drained. */
export type ClicksOfOthers = {
	flushed(flush: Flush): Promise<void>;
	receive(message: ClicksMessage, journal: ClickJournal): void;
};

/** The texts of all requests; empty, for all clicks, if those of one request are. */
const allTexts = (flushes: readonly Flush[]): readonly string[] => {
	const texts = flushes.map(({containing = []}) => containing);
	return texts.some(({length}) => length === 0) ? [] : texts.flat();
};

/** The worker's side. Calls of one turn of the event loop share one message. */
export const createClicksOfOthers = (send: (message: ClicksMessage) => void): ClicksOfOthers => {
	const requests = createPendingRequests<true>(2 * TIMEOUT_MS);
	const flush = oncePerTurn(
		async (flushes: readonly Flush[]) => {
			const flush = {...flushes[0], containing: allTexts(flushes)};
			await requests.ask((request) => send({type: 'clicks', request, flush}));
			return flushes;
		},
		({sink = ''}) => sink,
	);

	return {
		flushed: async (one) => {
			await flush(one);
		},
		receive: async (message, journal) => {
			const {request} = message;
			if ('drained' in message) {
				requests.resolve(request, true);
			} else {
				// Without a database the requesting worker cannot read either.
				await journal.flushed({...message.flush, scope: 'process'}).catch(() => {});
				send({type: 'clicks', request, drained: true});
			}
		},
	};
};

/** The supervisor's side: forwards each request to the other ready workers. */
export const createClicksOfWorkers = () => {
	const members = new Set<(message: ClicksMessage) => void>();
	const requests = createPendingRequests<true>(TIMEOUT_MS);
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
							requests.ask((forwarded) => other({type: 'clicks', request: forwarded, flush: message.flush})),
						),
					);
					send({type: 'clicks', request, drained: true});
				},
				left: (): void => {
					members.delete(send);
				},
			};
		},
	};
};
