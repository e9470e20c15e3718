import type {ClickJournal} from '../clicks/journal/click-journal.ts';
import type {AssociationCache} from '../resolution/association-cache.ts';
import {APPLE_LIMIT_BYTES} from '../resolution/association-files.ts';
import type {LinkCache} from '../resolution/link-cache.ts';
import {createGauge, type Metric} from './instruments.ts';

/** Sizes and hit rates of the caches. */
export const cacheMetrics = (cache: Pick<LinkCache<unknown>, 'figures'>): Metric[] => [
	createGauge(
		{name: 'oplink_link_cache_lookups_total', help: 'Link lookups in the cache.', labels: ['result'], across: 'total'},
		() => {
			const {hits, misses} = cache.figures();
			return [
				{labels: ['hit'], value: hits},
				{labels: ['miss'], value: misses},
			];
		},
	),
	createGauge(
		{name: 'oplink_link_cache_entries', help: 'Links in the cache.', across: 'sum'},
		() => cache.figures().entries,
	),
	createGauge(
		{name: 'oplink_link_cache_bytes', help: 'Estimated size of the cached links.', across: 'sum'},
		() => cache.figures().bytes,
	),
	createGauge(
		{name: 'oplink_link_cache_trusted', help: 'Whether links are served from the cache.', across: 'smallest'},
		() => Number(cache.figures().isTrusted),
	),
];

/** Fill level of the shared link domain's association files. */
export const associationMetrics = (cache: Pick<AssociationCache, 'figures'>): Metric[] => [
	createGauge(
		{
			name: 'oplink_association_file_bytes',
			help: 'Size of the association files of the shared link domain.',
			labels: ['file'],
			across: 'largest',
		},
		() => {
			const {appleBytes, androidBytes} = cache.figures();
			return [
				{labels: ['apple'], value: appleBytes},
				{labels: ['android'], value: androidBytes},
			];
		},
	),
	createGauge(
		{name: 'oplink_association_file_limit_bytes', help: 'Size limit of Apple for its file.', across: 'largest'},
		() => APPLE_LIMIT_BYTES,
	),
	createGauge(
		{
			name: 'oplink_association_file_waiting',
			help: 'Organizations whose iOS app does not fit in the shared file.',
			across: 'largest',
		},
		() => cache.figures().waiting,
	),
];

/** The click journal: waiting clicks, their age, and losses. */
export const journalMetrics = (journal: Pick<ClickJournal, 'figures'>): Metric[] => {
	type Figure = keyof ReturnType<typeof journal.figures>;
	const metric = (across: 'sum' | 'largest' | 'total') => (name: string, help: string, figure: Figure) =>
		createGauge({name, help, across}, () => journal.figures()[figure]);
	const [sum, largest, counter] = [metric('sum'), metric('largest'), metric('total')];
	return [
		sum('oplink_click_journal_waiting_bytes', 'Clicks that wait for the database.', 'waitingBytes'),
		sum('oplink_click_journal_limit_bytes', 'Most that may wait (JOURNAL_MAX_MB).', 'maxBytes'),
		largest('oplink_click_journal_oldest_waiting_seconds', 'Age of the oldest waiting click.', 'oldestSeconds'),
		counter('oplink_click_journal_drained_total', 'Clicks moved from the journal to the tables.', 'drained'),
		counter(
			'oplink_click_journal_direct_total',
			'Clicks written directly to the tables, without the journal.',
			'direct',
		),
		counter('oplink_click_journal_refused_total', 'Clicks that the database rejected permanently.', 'refused'),
		counter('oplink_click_journal_lost_total', 'Clicks lost.', 'lost'),
	];
};
