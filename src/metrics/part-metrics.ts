import type {ClickJournal} from '../clicks/journal/click-journal.ts';
import type {AssociationCache} from '../resolution/association-cache.ts';
import {APPLE_LIMIT_BYTES} from '../resolution/association-files.ts';
import type {LinkCache} from '../resolution/link-cache.ts';
import {createGauge, gaugesOf, type Metric} from './instruments.ts';

const sum = gaugesOf('sum');
const largest = gaugesOf('largest');

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
	sum('oplink_link_cache_entries', 'Links in the cache.', () => cache.figures().entries),
	sum('oplink_link_cache_bytes', 'Estimated size of the cached links.', () => cache.figures().bytes),
	gaugesOf('smallest')('oplink_link_cache_trusted', 'Whether links are served from the cache.', () =>
		Number(cache.figures().isTrusted),
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
	largest('oplink_association_file_limit_bytes', 'Size limit of Apple for its file.', () => APPLE_LIMIT_BYTES),
	largest(
		'oplink_association_file_waiting',
		'Organizations whose iOS app does not fit in the shared file.',
		() => cache.figures().waiting,
	),
];

/** The click journal: waiting clicks, their age, and losses. */
export const journalMetrics = (journal: Pick<ClickJournal, 'figures'>): Metric[] => {
	const total = gaugesOf('total');
	const of = (figure: keyof ReturnType<typeof journal.figures>) => () => journal.figures()[figure];
	return [
		sum('oplink_click_journal_waiting_bytes', 'Clicks that wait for the database.', of('waitingBytes')),
		sum('oplink_click_journal_limit_bytes', 'Most that may wait (JOURNAL_MAX_MB).', of('maxBytes')),
		largest('oplink_click_journal_oldest_waiting_seconds', 'Age of the oldest waiting click.', of('oldestSeconds')),
		total('oplink_click_journal_drained_total', 'Clicks moved from the journal to the tables.', of('drained')),
		total(
			'oplink_click_journal_direct_total',
			'Clicks written directly to the tables, without the journal.',
			of('direct'),
		),
		total('oplink_click_journal_refused_total', 'Clicks that the database rejected permanently.', of('refused')),
		total('oplink_click_journal_lost_total', 'Clicks lost.', of('lost')),
	];
};
