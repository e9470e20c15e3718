import {Option} from 'commander';
import {stringify} from 'csv-stringify/sync';
import {dimensionNames} from '../../visits/clicks/dimensions.ts';
import {type Context, command} from '../command.ts';
import {spreadsheetOptions} from '../common-options.ts';
import {inkOf} from '../terminal/bar-chart.ts';
import {writeData} from '../terminal/io.ts';
import {cellOf, type ReportOptions, rangeOptions, requestOf, withShortCodes} from './report-options.ts';
import {funnelCommand} from './stats-funnel.ts';
import {ROWS_OF_A_BREAKDOWN, ROWS_OF_A_NAMED_BREAKDOWN, renderStats, type Stats} from './stats-report.ts';

/** Every value of the breakdowns. */
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
