import {Option} from 'commander';
import {stringify} from 'csv-stringify/sync';
import {guarded} from '../../platform/formula-guard.ts';
import {dimensionNames, funnelDimensions} from '../../visits/clicks/dimensions.ts';
import type {Funnel as ServerFunnel} from '../../visits/reports/stats/stats-query.ts';
import {usageError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {spreadsheetOptions} from '../common-options.ts';
import {withSuggestion} from '../option-names.ts';
import type {Json} from '../server/admin-client.ts';
import {type OrganizationApi, organizationApi} from '../server/link-surface.ts';
import {linksOfIds, namedAdminLink} from '../server/named-link.ts';
import {bar, inkOf} from '../terminal/charts.ts';
import {writeData} from '../terminal/io.ts';
import {ID_WIDTH, keyValues} from '../terminal/output.ts';
import {
	type ChartOptions,
	MIN_BAR,
	ROWS_OF_A_BREAKDOWN,
	ROWS_OF_A_NAMED_BREAKDOWN,
	renderStats,
	type Stats,
} from './stats-report.ts';

type ReportOptions = {
	from?: string;
	to?: string;
	interval?: string;
	timezone?: string;
	link?: string;
	by?: string;
	tag?: string;
	channel?: string;
	csv?: boolean;
	spreadsheet?: boolean;
};

const rangeOptions = [
	new Option('--from <time>', 'ISO 8601 date or time (default: 30 days ago)'),
	new Option('--to <time>', 'ISO 8601 date or time (default: now)'),
	new Option('--timezone <name>', 'IANA timezone in which a day begins, such as Europe/Berlin'),
	new Option('--tag <tag>', 'only links with this tag'),
	new Option('--channel <name>', 'only links of this channel'),
	new Option('--link <link>', 'only this link, by its short URL, short code or id'),
];

/**
 * The path and the query of a report; `linkId` of `--link`.
 * @param dimensions what `by` may name. @throws a usage error for another name, and for two formats.
 */
const requestOf = async (context: Context<ReportOptions>, by: string[], dimensions: readonly string[]) => {
	const {options, show} = context;
	const wrong = by.find((name) => !dimensions.includes(name));
	if (wrong !== undefined) {
		throw usageError(
			withSuggestion(`--by '${wrong}' is none of ${dimensions.join(', ')}.`),
			'add --help to see the usage',
		);
	}

	if (options.csv && show.json) {
		throw usageError('--csv and --json cannot be combined');
	}

	const {from, to, interval, timezone, link, tag, channel} = options;
	const named = link === undefined ? null : await namedAdminLink(context, link);
	const {client, path} = named ?? (await organizationApi(context));
	return {client, path, linkId: named?.id, query: {from, to, interval, timezone, by: options.by, tag, channel}};
};

/** A value in CSV. Visitors choose many, so that one must not become a formula of a spreadsheet. */
const cellOf = (key: string | null, {spreadsheet}: ReportOptions): string | null =>
	key === null || spreadsheet === false ? key : guarded(key);

/** Rows with short codes in place of link ids if the links still exist; those that are not shown stay as they are. */
const withShortCodes = async <Row extends {key: string | null}>(
	place: Pick<OrganizationApi, 'client' | 'path'>,
	rows: Row[],
	shown: number,
): Promise<Row[]> => {
	const links = await linksOfIds(
		place,
		rows.slice(0, shown).flatMap(({key}) => (key === null || key === 'other' ? [] : key)),
	);
	return rows.map((row) => ({...row, key: links.get(row.key ?? '')?.shortCode ?? row.key}));
};

type Funnel = Json<ServerFunnel>;
type Steps = Funnel['totals'];
type FunnelOptions = ReportOptions & {event?: string; property?: string};

const STEPS = ['clicks', 'matches', 'devices', 'events', 'sum'] as const;

/** The steps of each value as a table, under a row for all of them, with bars by clicks. */
const renderFunnel = (
	{from, to, by, totals, rows, breakdownsSince}: Funnel,
	{show, ink}: Omit<ChartOptions, 'timezone' | 'rows'>,
): string => {
	const steps = STEPS.filter((step) => step !== 'sum' || totals.sum !== null);
	const shown = rows.slice(0, ROWS_OF_A_NAMED_BREAKDOWN);
	const most = Math.max(1, ...shown.map(({clicks}) => clicks));
	const room = Math.max(MIN_BAR, Math.floor(show.width / 6));
	const text = (value: number | null) => (value === null ? '' : String(Math.round(value * 100) / 100));
	const table = show.table(
		[
			{title: by.toUpperCase(), value: ({key}) => key, flexible: true, minWidth: ID_WIDTH / 2},
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
		keyValues([
			['from', from],
			['to', to],
			['breakdowns since', breakdownsSince],
		]),
		table,
		...(left > 0 ? [`${left} more: --csv lists them`] : []),
	].join('\n\n');
};

const funnelCommand = command({
	usage: 'funnel [org]',
	summary: 'Show the funnel from clicks to events',
	about: 'Shows clicks, matches, devices with an event, events, and the sum of a property.',
	examples: [
		'funnel --org Ab12 --by utmCampaign --event purchase --property amount',
		'funnel --by channel --event signup --tag spring --csv > funnel.csv',
	],
	options: [
		new Option('--by <name>', 'dimension of the rows').choices(funnelDimensions).default('link'),
		new Option('--event <name>', 'event name (default: all)'),
		new Option('--property <name>', 'numeric event property to sum'),
		...rangeOptions,
		new Option('--csv', 'print the rows as CSV'),
		...spreadsheetOptions({csv: true}),
	],
	run: async (context: Context<FunnelOptions>) => {
		const {io, options, show} = context;
		const {by, event, property, csv} = options;
		const {client, path, linkId, query} = await requestOf(context, [by ?? 'link'], funnelDimensions);
		const funnel = await client.get<Funnel>(`${path}/stats/funnel`, {...query, event, property, link: linkId});
		if (csv) {
			const rows = funnel.rows.map((row) => ({...row, key: cellOf(row.key, options)}));
			await writeData(io.stdout, stringify(rows, {header: true, columns: ['key', ...STEPS]}));
			return;
		}

		const isNamed = by === 'link' && !show.json;
		const rows = isNamed ? await withShortCodes({client, path}, funnel.rows, ROWS_OF_A_NAMED_BREAKDOWN) : funnel.rows;
		await show.answer({...funnel, rows}, (value) => renderFunnel(value, {show, ink: inkOf(io.env)}));
	},
});

const breakdownRows = (
	{breakdowns}: Stats,
	options: ReportOptions,
): Array<{by: string; value: string | null; count: number}> =>
	Object.entries(breakdowns).flatMap(([by, counts]) =>
		counts.map(({key, count}) => ({by, value: cellOf(key, options), count})),
	);

export const statsCommand = command({
	usage: 'stats [org]',
	summary: 'Show clicks, matches and events',
	examples: [
		'stats --link https://go.acme.example/Ab12/spring --interval hour --csv > clicks.csv',
		'stats --by utmCampaign,country --tag spring',
	],
	options: [
		new Option('--by <names>', `up to 4 breakdowns: ${dimensionNames.join(', ')}`),
		new Option('--interval <interval>', 'interval of each row').choices(['hour', 'day', 'month']),
		...rangeOptions,
		new Option('--csv', 'print the series as CSV; with --by, the breakdowns'),
		...spreadsheetOptions({csv: true}),
	],
	subcommands: [funnelCommand],
	run: async (context: Context<ReportOptions>) => {
		const {io, options, show} = context;
		const {by, tag, channel, timezone} = options;
		const {client, path, linkId, query} = await requestOf(context, by?.split(',') ?? [], dimensionNames);
		const isWhole = [by, tag, channel, linkId].every((chosen) => chosen === undefined);
		const scope = {linkId, ...(isWhole ? {guesses: 'true'} : {})};
		const stats = await client.get<Stats>(`${path}/stats`, {...query, ...scope});
		if (options.csv) {
			const [rows, columns] =
				by === undefined
					? [stats.series, ['start', 'clicks', 'matches', 'events']]
					: [breakdownRows(stats, options), ['by', 'value', 'count']];
			await writeData(io.stdout, stringify(rows, {header: true, columns}));
			return;
		}

		const rows = by === undefined ? ROWS_OF_A_BREAKDOWN : ROWS_OF_A_NAMED_BREAKDOWN;
		const {link: links} = stats.breakdowns;
		const isNamed = links !== undefined && !show.json;
		const breakdowns = isNamed
			? {...stats.breakdowns, link: await withShortCodes({client, path}, links, rows)}
			: stats.breakdowns;
		const look = {show, ink: inkOf(io.env), timezone: timezone ?? 'UTC', rows};
		await show.answer({...stats, breakdowns}, (value) => renderStats(value, look));
	},
});
