import {type ImportRow, jsonRow} from './import-row.ts';
import {createElementReader} from './json-elements.ts';
import {type Source, textOf} from './lines.ts';

/**
 * The rows of JSON of any length: of an array, of an API's list, or concatenated objects. A malformed element fails
 * alone.
 * @throws OperatorError if the file does not continue as JSON.
 */
export async function* jsonRows(source: Source): AsyncGenerator<ImportRow> {
	const reader = createElementReader();
	for await (const text of textOf(source)) {
		const {elements, fault} = reader.push(Buffer.from(text));
		for (const {place, text, wrapping} of elements) {
			yield jsonRow(place, text, wrapping);
		}

		if (fault !== null) {
			throw fault;
		}
	}

	reader.end();
}
