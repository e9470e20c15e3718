import {APPLE_LIMIT_BYTES} from '../../links/app-config/association-files.ts';
import {createSnapshot, type Figures, readPool, readProcess, type Snapshot} from '../../platform/metrics/snapshot.ts';
import type {Services} from '../../services.ts';

type Deps = Pick<
	Services,
	'abuseFigures' | 'linkPolicy' | 'associationCache' | 'clickJournal' | 'db' | 'eventLoop' | 'linkCache' | 'metrics'
>;

/** Sizes and hit rates of the caches. */
const readCache = ({gauge, counter}: Snapshot, {linkCache}: Deps): void => {
	const {hits, misses, entries, bytes, isTrusted} = linkCache.figures();
	counter('oplink_link_cache_lookups_total', 'Link lookups in the cache.', [
		[{result: 'hit'}, hits],
		[{result: 'miss'}, misses],
	]);
	gauge('sum', 'oplink_link_cache_entries', 'Links in the cache.', entries);
	gauge('sum', 'oplink_link_cache_bytes', 'Estimated size of the cached links.', bytes);
	gauge('min', 'oplink_link_cache_trusted', 'Whether links are served from the cache.', Number(isTrusted));
};

/** Fill level of the shared link domain's association files. */
const readAssociation = ({gauge}: Snapshot, {associationCache}: Deps): void => {
	const {appleBytes, androidBytes, waiting} = associationCache.figures();
	gauge('max', 'oplink_association_file_bytes', 'Size of the association files of the shared link domain.', [
		[{file: 'apple'}, appleBytes],
		[{file: 'android'}, androidBytes],
	]);
	gauge('max', 'oplink_association_file_limit_bytes', 'Size limit of Apple for its file.', APPLE_LIMIT_BYTES);
	gauge(
		'max',
		'oplink_association_file_waiting',
		'Organizations whose iOS app does not fit in the shared file.',
		waiting,
	);
};

/** Reports of links, lists, and the links that both block. */
const readAbuse = ({gauge}: Snapshot, {abuseFigures, linkPolicy}: Deps): void => {
	const {openReports, blocked} = abuseFigures;
	gauge('max', 'oplink_abuse_reports_open', 'Open reports of links.', openReports);
	gauge('max', 'oplink_links_blocked', 'Links that are blocked.', [
		[{by: 'list'}, blocked.list],
		[{by: 'operator'}, blocked.operator],
	]);
	const lists = linkPolicy.lists();
	gauge(
		'max',
		'oplink_link_policy_entries',
		'Entries of a list of LINK_POLICY_FILE.',
		lists.map(({name, entries}) => [{list: name}, entries]),
	);
	gauge(
		'min',
		'oplink_link_policy_usable',
		'Whether the file of a list can be used as it is now.',
		lists.map(({name, fault}) => [{list: name}, Number(fault === null)]),
	);
};

/** The click journal: waiting clicks, their age, and losses. */
const readJournal = ({gauge, counter}: Snapshot, {clickJournal}: Deps): void => {
	const {waitingBytes, maxBytes, oldestSeconds, drained, direct, refused, lost} = clickJournal.figures();
	gauge('sum', 'oplink_click_journal_waiting_bytes', 'Clicks that wait for the database.', waitingBytes);
	gauge('sum', 'oplink_click_journal_limit_bytes', 'Most that may wait (JOURNAL_MAX_MB).', maxBytes);
	gauge('max', 'oplink_click_journal_oldest_waiting_seconds', 'Age of the oldest waiting click.', oldestSeconds);
	counter('oplink_click_journal_drained_total', 'Clicks moved from the journal to the tables.', drained);
	counter('oplink_click_journal_direct_total', 'Clicks written directly to the tables, without the journal.', direct);
	counter('oplink_click_journal_refused_total', 'Clicks that the database rejected permanently.', refused);
	counter('oplink_click_journal_lost_total', 'Clicks that neither the journal nor the database took.', lost);
};

/** All figures of this process. */
export const readFigures = async (services: Deps): Promise<Figures> => {
	const {metrics, db, eventLoop} = services;
	const snapshot = createSnapshot();
	for (const read of [readCache, readAssociation, readJournal, readAbuse]) {
		read(snapshot, services);
	}

	readPool(snapshot, db);
	readProcess(snapshot, eventLoop.delay);
	const [counted, read] = await Promise.all([metrics.registry, snapshot.registry].map((one) => one.getMetricsAsJSON()));
	return [...(counted ?? []), ...(read ?? [])];
};

/** All figures of this process for a scrape, which resets the event loop's delays. */
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
