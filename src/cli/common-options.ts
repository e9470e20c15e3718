import {InvalidArgumentError, Option} from 'commander';
import {usageError} from './cli-errors.ts';

const wholeNumber = (value: string): number => {
	if (!/^\d{1,9}$/.test(value)) {
		throw new InvalidArgumentError('It must be a whole number.');
	}

	return Number(value);
};

/** An option with an integer; the server checks its range. */
export const numberOption = (flags: string, meaning: string): Option =>
	new Option(flags, meaning).argParser(wholeNumber);

export const orgOption = (): Option =>
	new Option('--org <org>', 'id or orgKey (default: OPLINK_ORG, orgs use, or the only one)');

/** The guard of every CSV. @param implied the options that say that the output is CSV. */
export const spreadsheetOption = (implied: Record<string, unknown>, more = ''): Option =>
	new Option('--spreadsheet', `CSV with an apostrophe before cells that could be formulas${more}`).implies(implied);

/** For CSV that people open, which has the guard by default. */
export const spreadsheetOptions = (implied: Record<string, unknown>): Option[] => [
	spreadsheetOption(implied, ' (default)'),
	new Option('--no-spreadsheet', 'CSV without these apostrophes, for programs'),
];

/** @throws a usage error for another format with the guard of CSV. */
export const requireCsv = ({format, spreadsheet}: {format: string; spreadsheet?: boolean}): void => {
	if (spreadsheet && format !== 'csv') {
		throw usageError('--spreadsheet is for CSV', 'Leave --format out, or use --format csv');
	}
};

export const yesOption = (): Option => new Option('--yes', 'do not ask for confirmation');

/** `page`, `limit` and `all` of every list command. */
export type PageOptions = {page?: number; limit?: number; all?: boolean};
export const pageOptions = (): Option[] => [
	numberOption('--page <number>', 'page of the list, from 1'),
	numberOption('--limit <number>', 'rows per page, 1 to 100'),
	new Option('--all', 'all pages').conflicts(['page', 'limit']),
];
