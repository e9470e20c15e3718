import {inputError} from '../../cli-errors.ts';
import {type ImportRow, jsonRow, MOST_READ_BYTES, plainLines} from './import-row.ts';
import {linesOf, type Source} from './lines.ts';

const bound = {
	characters: MOST_READ_BYTES,
	fault: (line: number) => inputError(`Line ${line} is longer than ${MOST_READ_BYTES} characters`),
};

/** The rows of NDJSON: an object per line, empty lines are passed over. */
export async function* ndjsonRows(source: Source): AsyncGenerator<ImportRow> {
	let line = 0;
	for await (const text of linesOf(source, bound)) {
		line += 1;
		if (text.trim() !== '') {
			yield jsonRow({line}, text, plainLines);
		}
	}
}
