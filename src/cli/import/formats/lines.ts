import type {Readable} from 'node:stream';

/** A source of lines or of a file's text. */
export type Source = Readable | AsyncIterable<Uint8Array | string>;

/** The text of a source in UTF-8 chunks of whole characters, without a byte order mark. */
export async function* textOf(source: Source): AsyncGenerator<string> {
	const decoder = new TextDecoder('utf-8');
	for await (const chunk of source) {
		yield typeof chunk === 'string' ? chunk : decoder.decode(chunk as Uint8Array, {stream: true});
	}

	yield decoder.decode();
}

/** The longest allowed line, and the error for a longer one, by its number from 1. */
type Bound = {characters: number; fault: (line: number) => Error};

/**
 * The lines of a source, also a last one without an end. node:readline would also split at U+2028, which JSON strings
 * may contain.
 */
export async function* linesOf(source: Source, bound: Bound | null = null): AsyncGenerator<string> {
	let rest = '';
	let number = 1;
	for await (const text of textOf(source)) {
		// Joins a long line once, instead of copying it for each chunk.
		if (text.includes('\n')) {
			const lines = (rest + text).split('\n');
			rest = lines.pop() ?? '';
			for (const line of lines) {
				yield line.endsWith('\r') ? line.slice(0, -1) : line;
			}

			number += lines.length;
		} else {
			rest += text;
		}

		if (bound !== null && rest.length > bound.characters) {
			throw bound.fault(number);
		}
	}

	if (rest !== '') {
		yield rest;
	}
}
