import {Option} from 'commander';
import {stringify} from 'csv-stringify/sync';
import {usageError} from '../cli-errors.ts';
import {type Context, command, type Show} from '../command.ts';
import type {ApiClient} from '../server/admin-client.ts';
import {chosenPath} from '../server/link-surface.ts';
import {linkOfId, namedAdminLink} from '../server/named-link.ts';
import {bar, type Ink, inkOf} from '../terminal/bar-chart.ts';
import {AXIS_WIDTH, columnChart, fitted} from '../terminal/column-chart.ts';
import {writeData} from '../terminal/io.ts';
import {ID_WIDTH, keyValues} from '../terminal/output.ts';

/** A report as the API answers it (contract/portal 7). */
type Stats = {
	from: string;
	to: string;
	interval: 'hour' | 'day' | 'month';
	totals: Record<string, number>;
	series: Array<{start: string; clicks: number; matches: number; events: number}>;
	guesses?: Array<{confidence: string; graded: number; correct: number}>;
	breakdowns: Record<string, Array<{key: string | null; count: number}>>;
};

type Look = {show: Show; ink: Ink; timezone: string};

/** Most rows of a series that are listed; a longer one is drawn as a chart. */
const MOST_ROWS = 62;
const ROWS_OF_A_BREAKDOWN = 5;
const CHART_HEIGHT = 8;
const LEAST_BAR = 10;

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

const listed = ({series, interval}: Stats, {show, ink, timezone}: Look): string => {
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
			...(room >= LEAST_BAR
				? [{title: ' ', value: ({clicks}: {clicks: number}) => bar(clicks, most, room, ink) || ' '}]
				: []),
		],
		rows,
	);
};

const drawn = ({series, interval}: Stats, {show, ink, timezone}: Look): string => {
	const {values, each} = fitted(
		series.map(({clicks}) => clicks),
		show.width - AXIS_WIDTH,
	);
	const ends = [series.at(0), series.at(-1)].map((part) => (part ? startText(part.start, {interval, timezone}) : ''));
	const [from = '', to = ''] = ends;
	const title = `CLICKS BY ${interval.toUpperCase()}${each > 1 ? `, ${each} in a column` : ''}`;
	return [title, ...columnChart(values, {width: show.width, height: CHART_HEIGHT, ink, from, to})].join('\n');
};

const shares = ({breakdowns}: Stats, {show, ink}: Look): string => {
	const rows = Object.entries(breakdowns).flatMap(([name, counts]) => {
		const most = counts[0]?.count ?? 0;
		return counts.slice(0, ROWS_OF_A_BREAKDOWN).map((count) => ({name, most, ...count}));
	});
	const room = Math.min(30, Math.floor(show.width / 4));
	return show.table(
		[
			{title: 'BY', value: ({name}) => name},
			{title: 'VALUE', value: ({key}) => key, flexible: true, least: ID_WIDTH},
			{title: 'COUNT', value: ({count}) => count, align: 'right'},
			{title: ' ', value: ({count, most}) => bar(count, most, room, ink)},
		],
		rows,
	);
};

/** How often guesses were right where a token proved the link. */
const accuracy = (guesses: NonNullable<Stats['guesses']>, {show}: Look): string =>
	show.table(
		[
			{title: 'GUESSES', value: ({confidence}) => confidence},
			{title: 'GRADED', value: ({graded}) => graded, align: 'right'},
			{title: 'RIGHT', value: ({graded, correct}) => `${((correct / graded) * 100).toFixed(1)} %`, align: 'right'},
		],
		guesses,
	);

/** A report for a terminal: totals, clicks as bars or columns fitted to its width, and their sources. */
const renderStats = (stats: Stats, look: Look): string => {
	const totals = keyValues([['from', stats.from], ['to', stats.to], ...Object.entries(stats.totals)]);
	const isQuiet = stats.series.every(({clicks, matches, events}) => clicks + matches + events === 0);
	const {guesses = []} = stats;
	return [
		totals,
		!isQuiet && (stats.series.length > MOST_ROWS ? drawn : listed)(stats, look),
		Object.values(stats.breakdowns).some((counts) => counts.length > 0) && shares(stats, look),
		guesses.length > 0 && accuracy(guesses, look),
	]
		.filter((part) => part !== false)
		.join('\n\n');
};

type Options = {
	from?: string;
	to?: string;
	interval?: string;
	timezone?: string;
	link?: string;
	csv?: boolean;
};

/** Most links in the report. */
const NAMED = 5;

/** The report with short codes in place of link ids, where the links still exist. */
const withShortCodes = async (client: ApiClient, stats: Stats): Promise<Stats> => {
	const links = stats.breakdowns['link'] ?? [];
	const named = await Promise.all(
		links.slice(0, NAMED).map(async ({key, count}) => {
			const link = key === null ? null : await linkOfId(client, key);
			return {key: link?.shortCode ?? key, count};
		}),
	);
	return {...stats, breakdowns: {...stats.breakdowns, link: [...named, ...links.slice(NAMED)]}};
};

export const statsCommand = command({
	usage: 'stats [org]',
	summary: 'Show clicks, matches and events of an organization, or of one link',
	examples: [
		'stats Ab12 --from 2026-01-01 --to 2026-02-01 --timezone Africa/Cairo',
		'stats --link https://go.acme.example/Ab12/spring --interval hour --csv > clicks.csv',
	],
	options: [
		new Option('--from <time>', 'ISO 8601 date or time (default: 30 days ago)'),
		new Option('--to <time>', 'ISO 8601 date or time (default: now)'),
		new Option('--interval <interval>', 'time span per row').choices(['hour', 'day', 'month']),
		new Option('--timezone <name>', 'IANA timezone in which a day begins, such as Europe/Berlin'),
		new Option('--link <link>', 'of this link only, by its short URL, short code or id'),
		new Option('--csv', 'print the rows of the series as CSV'),
	],
	run: async (context: Context<Options>) => {
		const {io, options, show} = context;
		if (options.csv && show.json) {
			throw usageError('--csv and --json cannot be combined');
		}

		const {from, to, interval, timezone, link} = options;
		const named = link === undefined ? null : await namedAdminLink(context, link);
		const {client, path: organization} = named ?? (await chosenPath(context));
		const scope = named === null ? {guesses: 'true'} : {linkId: named.id};
		const query = {from, to, interval, timezone, ...scope};
		const stats = await client.get<Stats>(`${organization}/stats`, query);
		if (options.csv) {
			const columns = ['start', 'clicks', 'matches', 'events'];
			await writeData(io.stdout, stringify(stats.series, {header: true, columns}));
			return;
		}

		const shown = show.json ? stats : await withShortCodes(client, stats);
		await show.answer(shown, (value) => renderStats(value, {show, ink: inkOf(io.env), timezone: timezone ?? 'UTC'}));
	},
});
