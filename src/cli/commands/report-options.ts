import {Option} from 'commander';
import {guarded} from '../../platform/formula-guard.ts';
import {usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {withMeant} from '../did-you-mean.ts';
import {type Chosen, chosenPath} from '../server/link-surface.ts';
import {linksOfIds, namedAdminLink} from '../server/named-link.ts';

export type ReportOptions = {
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

/** The options that the report and the funnel share. */
export const rangeOptions = [
	new Option('--from <time>', 'ISO 8601 date or time (default: 30 days ago)'),
	new Option('--to <time>', 'ISO 8601 date or time (default: now)'),
	new Option('--timezone <name>', 'IANA timezone in which a day begins, such as Europe/Berlin'),
	new Option('--tag <tag>', 'only links with this tag'),
	new Option('--channel <name>', 'only links of this channel'),
	new Option('--link <link>', 'only this link, by its short URL, short code or id'),
];

/**
 * Where to ask for a report, and the query of its options; `linkId` of `--link`.
 * @param dimensions what `by` may name. @throws a usage error for another name, and for two formats.
 */
export const requestOf = async (context: Context<ReportOptions>, by: string[], dimensions: readonly string[]) => {
	const {options, show} = context;
	const wrong = by.find((name) => !dimensions.includes(name));
	if (wrong !== undefined) {
		throw usageError(withMeant(`--by '${wrong}' is none of ${dimensions.join(', ')}.`), 'add --help to see the usage');
	}

	if (options.csv && show.json) {
		throw usageError('--csv and --json cannot be combined');
	}

	const {from, to, interval, timezone, link, tag, channel} = options;
	const named = link === undefined ? null : await namedAdminLink(context, link);
	const {client, path} = named ?? (await chosenPath(context));
	return {client, path, linkId: named?.id, query: {from, to, interval, timezone, by: options.by, tag, channel}};
};

/** A value in CSV. Visitors choose many, so that one must not become a formula of a spreadsheet. */
export const cellOf = (key: string | null, {spreadsheet}: ReportOptions): string | null =>
	key === null || spreadsheet === false ? key : guarded(key);

/** Rows with short codes in place of link ids if the links still exist; those that are not shown stay as they are. */
export const withShortCodes = async <Row extends {key: string | null}>(
	place: Pick<Chosen, 'client' | 'path'>,
	rows: Row[],
	shown: number,
): Promise<Row[]> => {
	const links = await linksOfIds(
		place,
		rows.slice(0, shown).flatMap(({key}) => (key === null || key === 'other' ? [] : key)),
	);
	return rows.map((row) => ({...row, key: links.get(row.key ?? '')?.shortCode ?? row.key}));
};
