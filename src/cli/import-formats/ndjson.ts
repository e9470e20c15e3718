import {type ImportRow, jsonRow, plainLines} from './import-row.ts';
import {linesOf, type Source} from './lines.ts';

/** The rows of NDJSON: an object per line, empty lines are passed over. */
export async function* ndjsonRows(source: Source): AsyncGenerator<ImportRow> {
	let line = 0;
	for await (const text of linesOf(source)) {
		line += 1;
		if (text.trim() !== '') {
			yield jsonRow({line}, text, plainLines);
		}
	}
}
