import {readPool, readProcess} from '../../platform/metrics/process-metrics.ts';
import {createSnapshot, type Figures} from '../../platform/metrics/snapshot.ts';
import type {Services} from '../../services.ts';
import {readAssociation, readCache, readJournal} from './part-metrics.ts';

type Deps = Pick<Services, 'associationCache' | 'clickJournal' | 'db' | 'eventLoop' | 'linkCache' | 'metrics'>;

/** All figures of this process. */
export const readFigures = async (services: Deps): Promise<Figures> => {
	const {metrics, linkCache, associationCache, clickJournal, db, eventLoop} = services;
	const snapshot = createSnapshot();
	readCache(snapshot, linkCache);
	readAssociation(snapshot, associationCache);
	readJournal(snapshot, clickJournal);
	readPool(snapshot, db);
	readProcess(snapshot, eventLoop.delay);
	const [counted, read] = await Promise.all([metrics.registry, snapshot.registry].map((one) => one.getMetricsAsJSON()));
	return [...(counted ?? []), ...(read ?? [])];
};

/** The same for a scrape, which resets the event loop's delays. */
export const scrapeFigures = (services: Deps): Promise<Figures> => {
	const figures = readFigures(services);
	services.eventLoop.delay.reset();
	return figures;
};

/** Number of processes that share the port, and of those in this scrape. */
export const workerFigures = (workers: number, answered: number): Promise<Figures> => {
	const {gauge, registry} = createSnapshot();
	gauge('max', 'oplink_workers', 'Expected processes that share the port.', workers);
	gauge('max', 'oplink_workers_answered', 'Processes included in this scrape.', answered);
	return registry.getMetricsAsJSON();
};
