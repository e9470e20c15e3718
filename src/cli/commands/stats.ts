import {Option} from 'commander';
import {type Context, command} from '../command.ts';
import {chosenOrganization, organizationPath} from '../link-surface.ts';
import {keyValues} from '../output.ts';

type Stats = {
	from: string;
	to: string;
	interval: string;
	totals: Record<string, number>;
	series: Array<{start: string; clicks: number; matches: number; events: number}>;
	breakdowns: Record<string, Array<{key: string | null; count: number}>>;
};
type Options = {from?: string; to?: string; interval?: string; timezone?: string};

const ROWS_OF_A_BREAKDOWN = 5;

const render = (stats: Stats, show: Context['show']): string => {
	const busy = stats.series.filter(({clicks, matches, events}) => clicks + matches + events > 0);
	const series =
		busy.length === 0
			? []
			: [
					show.table(
						[
							{title: stats.interval.toUpperCase(), value: ({start}) => start},
							{title: 'CLICKS', value: ({clicks}) => clicks, align: 'right'},
							{title: 'MATCHES', value: ({matches}) => matches, align: 'right'},
							{title: 'EVENTS', value: ({events}) => events, align: 'right'},
						],
						busy,
					),
				];
	const shares = Object.entries(stats.breakdowns).flatMap(([name, rows]) =>
		rows.slice(0, ROWS_OF_A_BREAKDOWN).map(({key, count}) => ({name, key, count})),
	);
	const breakdowns =
		shares.length === 0
			? []
			: [
					show.table(
						[
							{title: 'BY', value: ({name}) => name},
							{title: 'VALUE', value: ({key}) => key, flexible: true},
							{title: 'COUNT', value: ({count}) => count, align: 'right'},
						],
						shares,
					),
				];
	const totals = keyValues([['from', stats.from], ['to', stats.to], ...Object.entries(stats.totals)]);
	return [totals, ...series, ...breakdowns].join('\n\n');
};

export const statsCommand = command({
	usage: 'stats [org]',
	summary: 'Show clicks, matches and events of an organization',
	examples: ['stats Ab12', 'stats Ab12 --from 2026-01-01 --to 2026-02-01 --interval day --timezone Africa/Cairo'],
	options: [
		new Option('--from <time>', 'ISO 8601 date or time; 30 days ago where absent'),
		new Option('--to <time>', 'ISO 8601 date or time; now where absent'),
		new Option('--interval <interval>', 'length of a row').choices(['hour', 'day', 'month']),
		new Option('--timezone <name>', 'IANA name of the timezone in which a day begins, such as Europe/Berlin'),
	],
	run: async ({connection, options, show}: Context<Options>, named: string | undefined) => {
		const client = connection.admin();
		const org = await chosenOrganization(client, named, 'naming one');
		const {from, to, interval, timezone} = options;
		const stats = await client.get<Stats>(`${organizationPath(org)}/stats`, {from, to, interval, timezone});
		await show.answer(stats, (value) => render(value, show));
	},
});
