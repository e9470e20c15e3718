import {Option} from 'commander';
import {stringify} from 'csv-stringify/sync';
import {usageError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import type {ApiClient} from '../server/admin-client.ts';
import {chosenPath} from '../server/link-surface.ts';
import {linkOfId, namedAdminLink} from '../server/named-link.ts';
import {inkOf} from '../terminal/bar-chart.ts';
import {writeData} from '../terminal/io.ts';
import {renderStats, type Stats} from '../terminal/stats-chart.ts';

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
			if (key === null) {
				return {key, count};
			}

			return {key: (await linkOfId(client, key))?.shortCode ?? key, count};
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
