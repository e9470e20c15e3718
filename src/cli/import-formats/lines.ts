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

/**
 * The lines of a source, one without an end included. node:readline would also break at U+2028, which may stand inside
 * of a JSON string.
 */
export async function* linesOf(source: Source): AsyncGenerator<string> {
	let rest = '';
	for await (const text of textOf(source)) {
		const lines = (rest + text).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			yield line.endsWith('\r') ? line.slice(0, -1) : line;
		}
	}

	if (rest !== '') {
		yield rest;
	}
}
