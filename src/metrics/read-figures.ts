import type {Services} from '../services.ts';
import {createGauge, type Figure} from './instruments.ts';
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
		createGauge(
			{name: 'oplink_workers', help: 'Expected processes that share the port.', across: 'largest'},
			() => workers,
		),
		createGauge(
			{name: 'oplink_workers_answered', help: 'Processes included in this scrape.', across: 'largest'},
			() => answered,
		),
	].map((metric) => metric.read());
