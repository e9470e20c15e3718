import {usageError} from '../cli-errors.ts';
import {csvRows} from './csv.ts';
import type {ImportRow} from './import-row.ts';
import {jsonRows} from './json.ts';
import type {Source} from './lines.ts';
import {ndjsonRows} from './ndjson.ts';

/** How the file of failed rows of a format is put together, so that it can be imported again. */
type Wrapping = {open: (header: string | undefined) => string; between: string; close: string};
export type ImportFormat = {
	rows: (source: Source) => AsyncIterable<ImportRow>;
	failed: Wrapping;
};

const lines: Wrapping = {open: (header) => (header === undefined ? '' : `${header}\n`), between: '\n', close: '\n'};

export const importFormats = {
	csv: {rows: csvRows, failed: lines},
	json: {rows: jsonRows, failed: {open: () => '[\n', between: ',\n', close: '\n]\n'}},
	ndjson: {rows: ndjsonRows, failed: lines},
} as const satisfies Record<string, ImportFormat>;

export type ImportFormatName = keyof typeof importFormats;
export const importFormatNames = Object.keys(importFormats) as ImportFormatName[];

/** The format of a file by its name, of one with failed rows (`links.csv.failed`) too. @throws OperatorError. */
export const formatOfFile = (file: string): ImportFormatName => {
	const extension = /\.([^.]+)$/.exec(file.replace(/(?:\.failed)+$/, ''))?.[1]?.toLowerCase() ?? '';
	const name = extension === 'jsonl' ? 'ndjson' : extension;
	const known = importFormatNames.find((one) => one === name);
	if (!known) {
		throw usageError(
			file === '-' ? 'Standard input has no name to tell its format by' : `'${file}' does not tell its format`,
			`Add --format ${importFormatNames.join('|')}`,
		);
	}

	return known;
};
