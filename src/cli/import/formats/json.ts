import {type ImportRow, jsonRow} from './import-row.ts';
import {createElementReader} from './json-elements.ts';
import {type Source, textOf} from './lines.ts';

/**
 * The rows of JSON of any length: of an array, of a list such as APIs answer it, or objects one after the other. An
 * element that is broken in itself fails alone.
 * @throws OperatorError where the file goes on no longer as JSON.
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
