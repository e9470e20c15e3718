import type {OfSupervisor, OfWorker} from '../limits/worker-limiter.ts';
import type {Figure} from '../metrics/instruments.ts';

/**
 * What a worker says to its supervisor: that it can answer, that it has got a connection, that it wants to stop, what it
 * counts (asked, or at its end), that it was scraped.
 */
export type WorkerMessage =
	| {is: 'ready' | 'taken' | 'leaving'}
	| {is: 'figures'; round: number | null; figures: Figure[]}
	| {is: 'scraped'; question: number}
	| OfWorker;

/**
 * What a supervisor says to a worker: to serve the connection that comes with the message, to print the welcome, to stop
 * gracefully, to say what it counts; what all do.
 */
export type SupervisorMessage =
	| {is: 'connection' | 'welcome' | 'stop'}
	| {is: 'count'; round: number; isScrape: boolean}
	| {is: 'figures_of_all'; question: number; figures: Figure[]}
	| OfSupervisor;
