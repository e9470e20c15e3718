import {Option} from 'commander';
import {stringify} from 'csv-stringify/sync';
import {dimensionNames, funnelDimensions} from '../../visits/clicks/dimensions.ts';
import {usageError} from '../cli-errors.ts';
import {type Context, command, type Show} from '../command.ts';
import {guarded} from '../import/formats/csv.ts';
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

type Look = {show: Show; ink: Ink; timezone: string; rows: number};

/** Most rows of a series that are listed; a longer one is drawn as a chart. */
const MOST_ROWS = 62;
const ROWS_OF_A_BREAKDOWN = 5;
/** Of a breakdown that was asked for. */
const ROWS_OF_A_NAMED_BREAKDOWN = 20;
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

const shares = ({breakdowns}: Stats, {show, ink, rows: most}: Look): string => {
	const rows = Object.entries(breakdowns).flatMap(([name, counts]) => {
		const highest = counts[0]?.count ?? 0;
		return counts.slice(0, most).map((count) => ({name, highest, ...count}));
	});
	const room = Math.min(30, Math.floor(show.width / 4));
	return show.table(
		[
			{title: 'BY', value: ({name}) => name},
			{title: 'VALUE', value: ({key}) => key, flexible: true, least: ID_WIDTH},
			{title: 'COUNT', value: ({count}) => count, align: 'right'},
			{title: ' ', value: ({count, highest}) => bar(count, highest, room, ink)},
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
	by?: string;
	tag?: string;
	channel?: string;
	csv?: boolean;
};

/** Rows with short codes in place of link ids, where the links still exist; those that are not shown stay as they are. */
const withShortCodes = async <Row extends {key: string | null}>(
	client: ApiClient,
	rows: Row[],
	shown: number,
): Promise<Row[]> => {
	const named = rows.slice(0, shown).map(async (row) => {
		const link = row.key === null ? null : await linkOfId(client, row.key);
		return {...row, key: link?.shortCode ?? row.key};
	});
	return [...(await Promise.all(named)), ...rows.slice(shown)];
};

/** The options that the report and the funnel share. */
const rangeOptions = [
	new Option('--from <time>', 'ISO 8601 date or time (default: 30 days ago)'),
	new Option('--to <time>', 'ISO 8601 date or time (default: now)'),
	new Option('--timezone <name>', 'IANA timezone in which a day begins, such as Europe/Berlin'),
	new Option('--tag <tag>', 'of links with this tag only'),
	new Option('--channel <name>', 'of links of this channel only'),
	new Option('--link <link>', 'of this link only, by its short URL, short code or id'),
];

const requireOneFormat = ({options, show}: Context<{csv?: boolean}>): void => {
	if (options.csv && show.json) {
		throw usageError('--csv and --json cannot be combined');
	}
};

/** A value in CSV. Visitors choose many, so that one must not become a formula of a spreadsheet. */
const cellOf = (key: string | null): string | null => (key === null ? null : guarded(key));

type Steps = {clicks: number; matches: number; devices: number; events: number; sum: number | null};
type Funnel = {from: string; to: string; by: string; totals: Steps; rows: Array<Steps & {key: string | null}>};
type FunnelOptions = Omit<Options, 'interval'> & {event?: string; property?: string};

const STEPS = ['clicks', 'matches', 'devices', 'events', 'sum'] as const;

/** The steps of each value as a table, under a row for all of them, with bars by clicks. */
const renderFunnel = ({by, totals, rows, ...range}: Funnel, {show, ink}: Omit<Look, 'timezone' | 'rows'>): string => {
	const steps = STEPS.filter((step) => step !== 'sum' || totals.sum !== null);
	const shown = rows.slice(0, ROWS_OF_A_NAMED_BREAKDOWN);
	const most = Math.max(1, ...shown.map(({clicks}) => clicks));
	const room = Math.max(LEAST_BAR, Math.floor(show.width / 6));
	const text = (value: number | null) => (value === null ? '' : String(Math.round(value * 100) / 100));
	const table = show.table(
		[
			{title: by.toUpperCase(), value: ({key}) => key, flexible: true, least: ID_WIDTH / 2},
			...steps.map((step) => ({
				title: step.toUpperCase(),
				value: (row: Steps) => text(row[step]),
				align: 'right' as const,
			})),
			{title: ' ', value: ({clicks, isTotal}) => (isTotal ? ' ' : bar(clicks, most, room, ink) || ' ')},
		],
		[{key: 'all', isTotal: true, ...totals}, ...shown.map((row) => ({isTotal: false, ...row}))],
	);
	const left = rows.length - shown.length;
	return [
		keyValues(Object.entries(range).slice(0, 2)),
		table,
		...(left > 0 ? [`${left} more: --csv lists them`] : []),
	].join('\n\n');
};

const funnelCommand = command({
	usage: 'funnel [org]',
	summary: 'Show what came of clicks: matches, devices with an event, events and a sum',
	examples: [
		'stats funnel Ab12 --by utmCampaign --event purchase --property amount',
		'stats funnel --by channel --event signup --tag spring --csv > funnel.csv',
	],
	options: [
		new Option('--by <name>', 'what to count by').choices(funnelDimensions).default('link'),
		new Option('--event <name>', 'events of this name (default: all)'),
		new Option('--property <name>', 'numeric property of the events to add up'),
		...rangeOptions,
		new Option('--csv', 'print the rows as CSV'),
	],
	run: async (context: Context<FunnelOptions>) => {
		requireOneFormat(context);
		const {io, options, show} = context;
		const {from, to, timezone, link, by, event, property, tag, channel} = options;
		const named = link === undefined ? null : await namedAdminLink(context, link);
		const {client, path: organization} = named ?? (await chosenPath(context));
		const query = {from, to, timezone, by, event, property, tag, channel, link: named?.id};
		const funnel = await client.get<Funnel>(`${organization}/stats/funnel`, query);
		if (options.csv) {
			const rows = funnel.rows.map((row) => ({...row, key: cellOf(row.key)}));
			await writeData(io.stdout, stringify(rows, {header: true, columns: ['key', ...STEPS]}));
			return;
		}

		const isNamed = by === 'link' && !show.json;
		const rows = isNamed ? await withShortCodes(client, funnel.rows, ROWS_OF_A_NAMED_BREAKDOWN) : funnel.rows;
		await show.answer({...funnel, rows}, (value) => renderFunnel(value, {show, ink: inkOf(io.env)}));
	},
});

/** Every value of the breakdowns. */
const breakdownRows = ({breakdowns}: Stats): Array<{by: string; value: string | null; count: number}> =>
	Object.entries(breakdowns).flatMap(([by, counts]) => counts.map(({key, count}) => ({by, value: cellOf(key), count})));

export const statsCommand = command({
	usage: 'stats [org]',
	summary: 'Show clicks, matches and events of an organization, or of one link',
	examples: [
		'stats --link https://go.acme.example/Ab12/spring --interval hour --csv > clicks.csv',
		'stats --by utmCampaign,country --tag spring',
	],
	options: [
		new Option('--by <names>', `up to 4 breakdowns: ${dimensionNames.join(', ')}`),
		new Option('--interval <interval>', 'time span per row').choices(['hour', 'day', 'month']),
		...rangeOptions,
		new Option('--csv', 'print the rows of the series as CSV, with --by those of the breakdowns'),
	],
	subcommands: [funnelCommand],
	run: async (context: Context<Options>) => {
		requireOneFormat(context);
		const {io, options, show} = context;
		const {from, to, interval, timezone, link, by, tag, channel} = options;
		const named = link === undefined ? null : await namedAdminLink(context, link);
		const {client, path: organization} = named ?? (await chosenPath(context));
		const isWhole = by === undefined && tag === undefined && channel === undefined;
		const scope = named === null ? (isWhole ? {guesses: 'true'} : {}) : {linkId: named.id};
		const query = {from, to, interval, timezone, by, tag, channel, ...scope};
		const stats = await client.get<Stats>(`${organization}/stats`, query);
		if (options.csv) {
			const [rows, columns] =
				by === undefined
					? [stats.series, ['start', 'clicks', 'matches', 'events']]
					: [breakdownRows(stats), ['by', 'value', 'count']];
			await writeData(io.stdout, stringify(rows, {header: true, columns}));
			return;
		}

		const rows = by === undefined ? ROWS_OF_A_BREAKDOWN : ROWS_OF_A_NAMED_BREAKDOWN;
		const {link: links} = stats.breakdowns;
		const isNamed = links !== undefined && !show.json;
		const breakdowns = isNamed
			? {...stats.breakdowns, link: await withShortCodes(client, links, rows)}
			: stats.breakdowns;
		const look = {show, ink: inkOf(io.env), timezone: timezone ?? 'UTC', rows};
		await show.answer({...stats, breakdowns}, (value) => renderStats(value, look));
	},
});
