import {methodWord} from '../../visits/matches/outcome-words.ts';
import type {Stats as ServerStats} from '../../visits/reports/stats/stats-query.ts';
import type {Show} from '../command.ts';
import type {Json} from '../server/admin-client.ts';
import {AXIS_WIDTH, bar, columnChart, fitted, type Ink} from '../terminal/charts.ts';
import {ID_WIDTH, keyValues} from '../terminal/output.ts';

/** A report as the API answers it (contract/portal 7). */
export type Stats = Json<ServerStats>;

export type ChartOptions = {show: Show; ink: Ink; timezone: string; rows: number};

/** Maximum rows of a series that are listed; a longer one is drawn as a chart. */
const MAX_ROWS = 62;
export const ROWS_OF_A_BREAKDOWN = 5;
/** Of a breakdown that was asked for. */
export const ROWS_OF_A_NAMED_BREAKDOWN = 20;
const CHART_HEIGHT = 8;
export const MIN_BAR = 10;

/** `2026-03-10`, `2026-03-10 14:00` or `2026-03`: the start of a bucket, in the report's timezone. */
const startText = (start: string, {interval, timezone}: {interval: Stats['interval']; timezone: string}): string => {
	const parts = new Intl.DateTimeFormat('en', {
		timeZone: timezone,
		hourCycle: 'h23',
		year: 'numeric',
		month: '2-digit',
		day: '2-digit',
		hour: '2-digit',
		minute: '2-digit',
	}).formatToParts(new Date(start));
	const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
	const month = `${part('year')}-${part('month')}`;
	const day = `${month}-${part('day')}`;
	return interval === 'month' ? month : interval === 'day' ? day : `${day} ${part('hour')}:${part('minute')}`;
};

const seriesText = ({series, interval}: Stats, {show, ink, timezone}: ChartOptions): string => {
	const most = Math.max(...series.map(({clicks}) => clicks));
	// Buckets before the first value are omitted.
	const first = series.findIndex(({clicks, matches, events}) => clicks + matches + events > 0);
	const rows = series.slice(first).map((part) => ({...part, label: startText(part.start, {interval, timezone})}));
	const label = Math.max(interval.length, rows[0]?.label.length ?? 0);
	const numbers = (['clicks', 'matches', 'events'] as const).map((name) =>
		Math.max(name.length, ...rows.map((row) => String(row[name]).length)),
	);
	const room = show.width - label - numbers.reduce((sum, width) => sum + width + 2, 2);
	return show.table(
		[
			{title: interval.toUpperCase(), value: (row) => row.label},
			{title: 'CLICKS', value: ({clicks}) => clicks, align: 'right'},
			{title: 'MATCHES', value: ({matches}) => matches, align: 'right'},
			{title: 'EVENTS', value: ({events}) => events, align: 'right'},
			// A space is a value, not an absent one.
			...(room >= MIN_BAR
				? [{title: ' ', value: ({clicks}: {clicks: number}) => bar(clicks, most, room, ink) || ' '}]
				: []),
		],
		rows,
	);
};

const drawn = ({series, interval}: Stats, {show, ink, timezone}: ChartOptions): string => {
	const {values, each} = fitted(
		series.map(({clicks}) => clicks),
		show.width - AXIS_WIDTH,
	);
	const ends = [series.at(0), series.at(-1)].map((part) => (part ? startText(part.start, {interval, timezone}) : ''));
	const [from = '', to = ''] = ends;
	const title = `CLICKS BY ${interval.toUpperCase()}${each > 1 ? `, ${each} in a column` : ''}`;
	return [title, ...columnChart(values, {width: show.width, height: CHART_HEIGHT, ink, from, to})].join('\n');
};

const shares = ({breakdowns}: Stats, {show, ink, rows: most}: ChartOptions): string => {
	const rows = Object.entries(breakdowns).flatMap(([name, counts]) => {
		const highest = counts[0]?.count ?? 0;
		return counts.slice(0, most).map((count) => ({name, highest, ...count}));
	});
	const room = Math.min(30, Math.floor(show.width / 4));
	return show.table(
		[
			{title: 'BY', value: ({name}) => name},
			{
				title: 'VALUE',
				value: ({name, key}) => (name === 'matchMethod' && key !== null ? methodWord(key) : key),
				flexible: true,
				minWidth: ID_WIDTH,
			},
			{title: 'COUNT', value: ({count}) => count, align: 'right'},
			{title: ' ', value: ({count, highest}) => bar(count, highest, room, ink)},
		],
		rows,
	);
};

/** How often guesses were right if a token proved the link. */
const accuracy = (guesses: NonNullable<Stats['guesses']>, {show}: ChartOptions): string =>
	show.table(
		[
			{title: 'GUESSES', value: ({confidence}) => confidence},
			{title: 'GRADED', value: ({graded}) => graded, align: 'right'},
			{title: 'RIGHT', value: ({graded, correct}) => `${((correct / graded) * 100).toFixed(1)} %`, align: 'right'},
		],
		guesses,
	);

/** A report for a terminal: totals, clicks as bars or columns fitted to its width, and their sources. */
export const renderStats = (stats: Stats, look: ChartOptions): string => {
	const totals = keyValues([
		['from', stats.from],
		['to', stats.to],
		...Object.entries(stats.totals),
		['breakdowns since', stats.breakdownsSince],
	]);
	const isQuiet = stats.series.every(({clicks, matches, events}) => clicks + matches + events === 0);
	const {guesses = []} = stats;
	return [
		totals,
		!isQuiet && (stats.series.length > MAX_ROWS ? drawn : seriesText)(stats, look),
		Object.values(stats.breakdowns).some((counts) => counts.length > 0) && shares(stats, look),
		guesses.length > 0 && accuracy(guesses, look),
	]
		.filter((part) => part !== false)
		.join('\n\n');
};
