import {InvalidArgumentError, Option} from 'commander';

const wholeNumber = (value: string): number => {
	if (!/^\d{1,9}$/.test(value)) {
		throw new InvalidArgumentError('It is a whole number.');
	}

	return Number(value);
};

/** An option with a whole number; its range is the server's to judge. */
export const numberOption = (flags: string, meaning: string): Option =>
	new Option(flags, meaning).argParser(wholeNumber);

export const orgOption = (): Option =>
	new Option('--org <org>', 'id or orgKey of the organization; needed where there are several');

export const yesOption = (): Option => new Option('--yes', 'do it without a question');

/** `page`, `limit` and `all` of every list command. */
export type PageOptions = {page?: number; limit?: number; all?: boolean};
export const pageOptions = (): Option[] => [
	numberOption('--page <number>', 'page of the list, from 1'),
	numberOption('--limit <number>', 'rows of a page, 1 to 100'),
	new Option('--all', 'every page').conflicts(['page', 'limit']),
];
