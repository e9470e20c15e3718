import {inputError} from '../cli-errors.ts';
import {type ImportRow, jsonRow} from './import-row.ts';
import {type Source, textOf} from './lines.ts';

/** No create body may be larger than 256 KiB; an element far beyond it is a file without its closing quote. */
const MAX_ELEMENT_CHARACTERS = 2 ** 20;

/**
 * The elements of one JSON array as text, without holding the array: brackets are counted outside of strings, and the
 * element itself is left to JSON.parse.
 */
async function* elementsOf(source: Source): AsyncGenerator<string> {
	let state: 'before' | 'inside' | 'after' = 'before';
	let depth = 0;
	let inString = false;
	let escaped = false;
	let element = '';
	for await (const text of textOf(source)) {
		for (const character of text) {
			if (inString) {
				element += character;
				inString = escaped || character !== '"';
				escaped = !escaped && character === '\\';
				continue;
			}

			if (state !== 'inside') {
				if (state === 'before' && character === '[') {
					state = 'inside';
				} else if (character.trim() !== '') {
					throw inputError(state === 'before' ? 'The file is no JSON array' : 'The file goes on after its JSON array');
				}

				continue;
			}

			if (depth === 0 && (character === ',' || character === ']')) {
				if (element.trim() !== '' || character === ',') {
					yield element.trim();
				}

				element = '';
				state = character === ']' ? 'after' : state;
				continue;
			}

			element += character;
			inString = character === '"';
			depth += character === '{' || character === '[' ? 1 : character === '}' || character === ']' ? -1 : 0;
		}

		if (element.length > MAX_ELEMENT_CHARACTERS) {
			throw inputError(`An element of the JSON array is longer than ${MAX_ELEMENT_CHARACTERS} characters`);
		}
	}

	if (state !== 'after') {
		throw inputError(state === 'before' ? 'The file is no JSON array' : 'The JSON array has no end');
	}
}

/** The rows of one JSON array of objects; `line` is the number of the element, from 1. */
export async function* jsonRows(source: Source): AsyncGenerator<ImportRow> {
	let line = 0;
	for await (const element of elementsOf(source)) {
		line += 1;
		yield jsonRow(line, element);
	}
}
