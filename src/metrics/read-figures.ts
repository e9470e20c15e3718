import type {Services} from '../services.ts';
import {type Figure, gaugesOf} from './instruments.ts';
import {associationMetrics, cacheMetrics, journalMetrics} from './part-metrics.ts';
import {poolMetrics, processMetrics} from './process-metrics.ts';

type Deps = Pick<Services, 'associationCache' | 'clickJournal' | 'db' | 'eventLoop' | 'linkCache' | 'metrics'>;

/** All figures of this process. */
export const readFigures = ({metrics, linkCache, associationCache, clickJournal, db, eventLoop}: Deps): Figure[] =>
	[
		...metrics.own,
		...cacheMetrics(linkCache),
		...associationMetrics(associationCache),
		...journalMetrics(clickJournal),
		...poolMetrics(db),
		...processMetrics(eventLoop.delay),
	].map((metric) => metric.read());

/** The same for a scrape, which resets the event loop's delays. */
export const scrapeFigures = (services: Deps): Figure[] => {
	const figures = readFigures(services);
	services.eventLoop.delay.reset();
	return figures;
};

/** Number of processes that share the port, and of those in this scrape. */
export const workerFigures = (workers: number, answered: number): Figure[] =>
	[
		gaugesOf('largest')('oplink_workers', 'Expected processes that share the port.', () => workers),
		gaugesOf('largest')('oplink_workers_answered', 'Processes included in this scrape.', () => answered),
	].map((metric) => metric.read());
