import type {LimitChecks, LimitWaits} from '../platform/limits/worker-limiter.ts';
import type {Figures} from '../platform/metrics/snapshot.ts';
import type {ClicksMessage} from './worker-clicks.ts';

/** A text for all other workers, see `PeerLine`. */
export type LineMessage = {is: 'line'; text: string};

/**
 * A worker's messages to its supervisor: ready, connection received, stop requested, its counters (on request or at its
 * end), scraped.
 */
export type WorkerMessage =
	| {is: 'ready' | 'taken' | 'leaving'}
	| {is: 'figures'; round: number | null; figures: Figures}
	| {is: 'scraped'; request: number}
	| LineMessage
	| ClicksMessage
	| LimitChecks;

/**
 * A supervisor's messages to a worker: serve the attached connection, print the welcome, stop gracefully, report your
 * counters; the counters of all.
 */
export type SupervisorMessage =
	| {is: 'connection' | 'welcome' | 'stop'}
	| {is: 'count'; round: number; isScrape: boolean}
	| {is: 'figures_of_all'; request: number; figures: Figures}
	| LineMessage
	| ClicksMessage
	| LimitWaits;
