import {Option} from 'commander';
import {stringify} from 'csv-stringify/sync';
import {funnelDimensions} from '../../visits/clicks/dimensions.ts';
import {type Context, command} from '../command.ts';
import {spreadsheetOptions} from '../common-options.ts';
import {bar, inkOf} from '../terminal/bar-chart.ts';
import {writeData} from '../terminal/io.ts';
import {ID_WIDTH, keyValues} from '../terminal/output.ts';
import {cellOf, type ReportOptions, rangeOptions, requestOf, withShortCodes} from './report-options.ts';
import {type Look, MIN_BAR, ROWS_OF_A_NAMED_BREAKDOWN} from './stats-report.ts';

type Steps = {clicks: number; matches: number; devices: number; events: number; sum: number | null};
type Funnel = {
	from: string;
	to: string;
	by: string;
	totals: Steps;
	rows: Array<Steps & {key: string | null}>;
	breakdownsSince?: string;
};
type FunnelOptions = ReportOptions & {event?: string; property?: string};

const STEPS = ['clicks', 'matches', 'devices', 'events', 'sum'] as const;

/** The steps of each value as a table, under a row for all of them, with bars by clicks. */
const renderFunnel = (
	{from, to, by, totals, rows, breakdownsSince}: Funnel,
	{show, ink}: Omit<Look, 'timezone' | 'rows'>,
): string => {
	const steps = STEPS.filter((step) => step !== 'sum' || totals.sum !== null);
	const shown = rows.slice(0, ROWS_OF_A_NAMED_BREAKDOWN);
	const most = Math.max(1, ...shown.map(({clicks}) => clicks));
	const room = Math.max(MIN_BAR, Math.floor(show.width / 6));
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
		keyValues([
			['from', from],
			['to', to],
			['breakdowns since', breakdownsSince],
		]),
		table,
		...(left > 0 ? [`${left} more: --csv lists them`] : []),
	].join('\n\n');
};

export const funnelCommand = command({
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
