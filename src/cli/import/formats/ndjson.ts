import {parseJson} from '../../../http/untrusted-json.ts';
import {inputError} from '../../cli-errors.ts';
import {type ImportRow, isObject, jsonRow, MOST_READ_BYTES, plainLines} from './import-row.ts';
import {linesOf, type Source} from './lines.ts';

const bound = {
	characters: MOST_READ_BYTES,
	fault: (line: number) => inputError(`Line ${line} is longer than ${MOST_READ_BYTES} characters`),
};

/** The rows of NDJSON: one object per line; empty lines are skipped. */
export async function* ndjsonRows(source: Source): AsyncGenerator<ImportRow> {
	let line = 0;
	for await (const text of linesOf(source, bound)) {
		line += 1;
		if (text.trim() !== '') {
			yield jsonRow({line}, text, plainLines);
		}
	}
}

/** Whether JSON has one object per line, judging by its first line. */
export const isLineJson = (head: string): boolean => {
	const [first = ''] = head.trimStart().split('\n', 1);
	const value = parseJson(first);
	return isObject(value) && !Array.isArray(value['links']) && !Array.isArray(value['data']);
};
