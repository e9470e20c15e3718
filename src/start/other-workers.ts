import type {Clock} from '../platform/clock.ts';
import {createWorkerLimiter} from '../platform/limits/worker-limiter.ts';
import type {Figures} from '../platform/metrics/snapshot.ts';
import {createPendingRequests} from '../platform/pending-requests.ts';
import type {OtherWorkers} from '../services.ts';
import type {ClickJournal} from '../visits/clicks/journal/click-journal.ts';
import {type SupervisorMessage, sendToSupervisor} from './supervisor-channel.ts';
import {createClicksOfOthers} from './worker-clicks.ts';

/** A supervisor that does not answer for this long hangs, and a scrape fails. */
const FIGURES_MS = 10_000;

/** @returns also the receiver of the supervisor's messages about these. */
export const createOtherWorkers = (
	clock: Clock,
): OtherWorkers & {receive(message: SupervisorMessage, journal: ClickJournal): void} => {
	const figureRequests = createPendingRequests<Figures>(FIGURES_MS);
	const limiter = createWorkerLimiter(clock, (message) => void sendToSupervisor(message));
	const clicks = createClicksOfOthers((message) => void sendToSupervisor(message));
	let onText: (text: string) => void = () => {};
	return {
		limiter,
		figures: async () => {
			const figures = await figureRequests.ask((request) => void sendToSupervisor({type: 'scraped', request}));
			if (figures === null) {
				throw new Error('the supervisor did not answer');
			}

			return figures;
		},
		clicksFlushed: clicks.flushed,
		line: {
			say: (text) => void sendToSupervisor({type: 'line', text}),
			onText: (listener) => {
				onText = listener;
			},
			close: () => {
				onText = () => {};
			},
		},
		receive: (message, journal) => {
			if (message.type === 'figures_of_all') {
				figureRequests.resolve(message.request, message.figures);
			} else if (message.type === 'clicks') {
				void clicks.receive(message, journal);
			} else if (message.type === 'limits') {
				limiter.receive(message);
			} else if (message.type === 'line') {
				onText(message.text);
			}
		},
	};
};
