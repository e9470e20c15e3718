import type {Readable} from 'node:stream';

/** What a line or a file is read from. */
export type Source = Readable | AsyncIterable<Uint8Array | string>;

/** The text of a source in pieces: UTF-8, no character cut in two, without a byte order mark. */
export async function* textOf(source: Source): AsyncGenerator<string> {
	const decoder = new TextDecoder('utf-8');
	for await (const chunk of source) {
		yield typeof chunk === 'string' ? chunk : decoder.decode(chunk as Uint8Array, {stream: true});
	}

	yield decoder.decode();
}

/** How long a line may be, and what is thrown for a longer one, by its number from 1. */
type Bound = {characters: number; fault: (line: number) => Error};

/**
 * The lines of a source, one without an end included. node:readline would also break at U+2028, which may stand inside
 * of a JSON string.
 */
export async function* linesOf(source: Source, bound: Bound | null = null): AsyncGenerator<string> {
	let rest = '';
	let number = 1;
	for await (const text of textOf(source)) {
		// A long line is joined here without being copied for each piece of it.
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
