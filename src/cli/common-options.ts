import {InvalidArgumentError, Option} from 'commander';

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

export const yesOption = (): Option => new Option('--yes', 'do not ask for confirmation');

/** `page`, `limit` and `all` of every list command. */
export type PageOptions = {page?: number; limit?: number; all?: boolean};
export const pageOptions = (): Option[] => [
	numberOption('--page <number>', 'page of the list, from 1'),
	numberOption('--limit <number>', 'rows per page, 1 to 100'),
	new Option('--all', 'all pages').conflicts(['page', 'limit']),
];
