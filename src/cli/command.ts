import type {Option} from 'commander';
import {orgOption, type PageOptions} from './common-options.ts';
import {type Connection, type ConnectionOptions, createConnection} from './server/connection.ts';
import {type Page, remainder} from './server/list-pages.ts';
import {type Io, print, supportsStyles, writeMessage} from './terminal/io.ts';
import {type Column, flattened, keyValues, table} from './terminal/output.ts';
import {safeJson, styled} from './terminal/printable.ts';

type CommonOptions = ConnectionOptions & PageOptions & {org?: string | undefined; yes?: boolean};

/** The context of a command: its options, the clients, and its output. */
export type Context<Options = object> = {
	io: Io;
	options: Options & Omit<CommonOptions, keyof Options>;
	connection: Connection;
	show: Show;
};

/** Data goes to stdout, everything else to stderr. With `--json` the data is the API's answer. */
export type Show = {
	json: boolean;
	/** The API's answer; for people, the text that `render` makes of it. */
	answer: <T>(value: T, render: (value: T) => string) => Promise<void>;
	/** An object as names and values, in the given order or the answer's. */
	fields: <T extends object>(value: T, pairs?: (value: T) => Array<[string, unknown]>) => Promise<void>;
	/** A list as a table, with a note if there are more pages; `empty` is the next step if there are no rows. */
	page: <Row>(page: Page<Row>, columns: Array<Column<Row>>, empty?: string) => Promise<void>;
	/** Rows as a table as wide as the terminal. Without a terminal nothing is truncated. */
	table: <Row>(columns: Array<Column<Row>>, rows: Row[]) => string;
	/** Columns of the terminal, or 80. */
	width: number;
	/** Whether tables show their `wide` columns: the terminal has 120 columns or more, or there is none. */
	isWide: boolean;
	/** A message; without text or lines nothing is printed. */
	note: (text: string | readonly string[] | null) => Promise<void>;
};

/** One command: its syntax, its help and its operation. */
export type CommandSpec<Options = object, Args extends unknown[] = string[]> = {
	/** Name and arguments as commander writes them, such as `show <org>`. */
	usage: string;
	/** One line of help: verb and object. */
	summary: string;
	/** Further paragraphs of the command's own help. */
	about?: string;
	/** Command lines without the leading `oplink`. */
	examples: string[];
	options?: Option[];
	/** Subcommands, which run instead if their name follows. */
	subcommands?: AnyCommand[];
	/**
	 * Declared as a method: its parameters are bivariant, so every CommandSpec is assignable to AnyCommand.
	 * @returns the exit code unless it is 0; any value but a number counts as 0.
	 */
	run(context: Context<Options>, ...args: Args): Promise<unknown>;
};

/** A command with its types erased: the program calls it with the options and arguments that it declares. */
export type AnyCommand = CommandSpec<object, unknown[]>;

/** Commands in one group, such as `orgs`. */
export type CommandGroup = {name: string; summary: string; about?: string; commands: AnyCommand[]};

/**
 * Declares a command; options and arguments take their types from `run`. One that takes ORG first takes it by `--org` as
 * well (contract/operations 13).
 */
export const command = <Options extends object, Args extends unknown[]>(
	spec: CommandSpec<Options, Args>,
): AnyCommand => {
	const {usage, options = []} = spec;
	const isByOption = / [[<]org[\]>]/.test(usage) && options.every(({long}) => long !== '--org');
	return {...spec, options: isByOption ? [orgOption(), ...options] : options};
};

const WIDTH_OFF_A_TERMINAL = 80;
/** The columns from which on a terminal shows the `wide` columns of tables. */
const WIDE = 120;
const [BOLD, NOT_BOLD] = [1, 22];

const createShow = (io: Io, json: boolean): Show => {
	const bold = (text: string) => (supportsStyles(io.stdout, io.env) ? styled(text, BOLD, NOT_BOLD) : text);
	const answer: Show['answer'] = (value, render) =>
		print(io, json ? safeJson(JSON.stringify(value, null, 2)) : render(value));
	const note: Show['note'] = async (text) => {
		const lines = [text ?? []].flat();
		await (lines.length > 0 ? writeMessage(io, lines.join('\n')) : null);
	};
	const width = io.stdout.columns || WIDTH_OFF_A_TERMINAL;
	const columns = io.stdout.columns || Number.POSITIVE_INFINITY;
	const isWide = columns >= WIDE;
	const asTable: Show['table'] = (titles, rows) => {
		const shown = titles.filter(({wide}) => isWide || !wide);
		return table(shown, rows, {width: columns, heading: bold});
	};
	return {
		json,
		answer,
		fields: (value, pairs = flattened) => answer(value, (fields) => keyValues(pairs(fields))),
		page: async (page, titles, empty) => {
			await answer(page, ({data}) => asTable(titles, data));
			await note(remainder(page));
			if (page.total === 0 && empty !== undefined && !json) {
				await note(`None yet. Next: ${empty}`);
			}
		},
		table: asTable,
		width,
		isWide,
		note,
	};
};

/** The environment of a command. */
export const createContext = (io: Io, options: Context['options']): Context => ({
	io,
	options,
	connection: createConnection(options, io),
	show: createShow(io, options.json === true),
});
