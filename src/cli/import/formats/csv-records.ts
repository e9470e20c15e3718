import {CsvError, type Info, type Parser, parse} from 'csv-parse';
import {parse as parseText} from 'csv-parse/sync';
import {inputError} from '../../cli-errors.ts';
import type {Source} from '../../lines.ts';
import {MAX_READ_BYTES} from './import-row.ts';

/** Spreadsheets separate by a semicolon where the comma is in numbers, or by tabs. */
const DELIMITERS = [',', ';', '\t'] as const;
type Delimiter = (typeof DELIMITERS)[number];

/**
 * One record: its cells, its source text and its line in the file. `openQuote` is the line of a quote that is closed
 * lines later in the middle of a cell, so that it took rows with it.
 */
export type CsvRecord = {cells: string[]; raw: string; line: number; openQuote: number | null};

/** No regular expression, which would backtrack at each line break of a long text. */
const withoutLineEnds = (text: string): string => {
	let end = text.length;
	while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) {
		end -= 1;
	}

	return text.slice(0, end);
};

const lineEndsIn = (text: string): number => text.match(/\r\n|\n|\r/g)?.length ?? 0;

/** The cells of the first record of a possibly truncated text; none if it is not CSV. */
const cellsWith = (text: string, delimiter: Delimiter): string[] => {
	try {
		const [record = []] = parseText(text, {bom: true, delimiter, relax_quotes: true, skip_empty_lines: true, to: 1});
		return record as string[];
	} catch (error) {
		if (error instanceof CsvError) {
			return [];
		}

		throw error;
	}
};

const delimiterOf = (head: string): Delimiter => {
	const cells = DELIMITERS.map((delimiter) => cellsWith(head, delimiter).length);
	return DELIMITERS[cells.indexOf(Math.max(...cells))] ?? ',';
};

/** The cells of the first record, by the delimiter of the file; none if it is not CSV. */
export const firstCsvRecord = (text: string): string[] => cellsWith(text, delimiterOf(text));

/**
 * The place of the quote that is open at the end of a record's text, or, in `strict`, of one around a cell of several
 * lines in which a quote is not doubled: it ended in the wrong place. Null if there is none.
 */
const openQuoteIn = (raw: string, delimiter: string, {strict}: {strict: boolean}): number | null => {
	for (let at = 0; at < raw.length; at += 1) {
		if (raw[at] === '"') {
			const open = at;
			let isLoose = false;
			for (at = raw.indexOf('"', at + 1); at !== -1; at = raw.indexOf('"', at + 1)) {
				const next = raw[at + 1];
				if (next === '"') {
					at += 1;
				} else if (next === undefined || next === delimiter || next === '\n' || next === '\r') {
					break;
				} else {
					isLoose = true;
				}
			}

			if (at === -1 || (strict && isLoose && raw.slice(open, at).includes('\n'))) {
				return open;
			}
		}

		// The rest of a cell without quotes around it.
		while (at < raw.length && raw[at] !== delimiter && raw[at] !== '\n' && raw[at] !== '\r') {
			at += 1;
		}
	}

	return null;
};

const openQuoteLine = (raw: string, line: number, delimiter: string, strict: boolean): number | null => {
	const at = openQuoteIn(raw, delimiter, {strict});
	return at === null ? null : line + lineEndsIn(raw.slice(0, at));
};

/** The fault of a file that csv-parse gives up. @param line the first one that is in no record. */
const faultOf = ({code, message, ...context}: CsvError, line: number, delimiter: string) => {
	const {raw} = context as {raw?: unknown};
	const text = typeof raw === 'string' ? raw : '';
	const opened = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE';
	const openedIn = opened ? openQuoteLine(text, line, delimiter, false) : null;
	return inputError(
		openedIn === null
			? `The CSV file cannot be read: ${message}`
			: `The CSV file cannot be read: the quote that opens in line ${openedIn} is never closed`,
	);
};

type Parsed = {record: string[]; raw: string; info: Info};

/** The records of a source. A failing stream drops unread records, so those of each chunk are read at once. */
async function* parsed(source: Source, parser: Parser): AsyncGenerator<Parsed> {
	parser.on('error', () => {
		// The error is thrown below.
	});
	for await (const chunk of source) {
		parser.write(chunk);
		for (let found: Parsed | null = parser.read(); found !== null; found = parser.read()) {
			yield found;
		}

		if (parser.errored) {
			throw parser.errored;
		}
	}

	parser.end();
	yield* parser;
}

/**
 * The records of a CSV file with the heading; `head` is its known start. Lines are counted in the records' text, because
 * csv-parse counts a quoted CRLF as two.
 */
export async function* csvRecords(source: Source, head: string): AsyncGenerator<CsvRecord> {
	const delimiter = delimiterOf(head);
	const parser = parse({
		bom: true,
		delimiter,
		info: true,
		raw: true,
		// All at once: a heading that another program added may end differently from the rows.
		record_delimiter: ['\r\n', '\n', '\r'],
		relax_column_count: true,
		relax_quotes: true,
		skip_empty_lines: true,
		max_record_size: MAX_READ_BYTES,
	});
	let lastLine = 0;
	try {
		for await (const {record, raw} of parsed(source, parser)) {
			const text = raw.replace(/^[\r\n]+/, '');
			const line = lastLine + 1 + (raw.length - text.length);
			const own = withoutLineEnds(text);
			const further = lineEndsIn(own);
			lastLine = line + further;
			const openQuote = further === 0 ? null : openQuoteLine(own, line, delimiter, true);
			yield {cells: record, raw: own, line, openQuote};
		}
	} catch (error) {
		throw error instanceof CsvError ? faultOf(error, lastLine + 1, delimiter) : error;
	} finally {
		parser.destroy();
	}
}
