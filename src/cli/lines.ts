import {isUtf8} from 'node:buffer';
import type {Readable} from 'node:stream';
import {inputError} from './cli-errors.ts';

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

const NEWLINE = 0x0a;
/** Maximum bytes of a character that the previous chunk may end with. */
const CHARACTER_BYTES = 3;

const newlinesIn = (text: string): number => text.split('\n').length - 1;

const undecodable = (encoding: string, line: number) =>
	inputError(
		`Line ${line} is not ${encoding === 'utf-8' ? 'UTF-8' : encoding}`,
		'Name the encoding of the file, such as --encoding latin1, windows-1252 or utf-16le',
	);

/** Number of valid UTF-8 lines before the first invalid one. */
const wholeLines = (bytes: Buffer): number => {
	let lines = 0;
	for (let from = 0; ; lines += 1) {
		const end = bytes.indexOf(NEWLINE, from);
		if (end === -1 || !isUtf8(bytes.subarray(from, end))) {
			return lines;
		}

		from = end + 1;
	}
};

/**
 * Decodes a source in chunks, without a byte order mark.
 * @throws OperatorError with the line of the first invalid byte, so that no garbled text is imported.
 */
export async function* decoded(source: Source, encoding: string): AsyncGenerator<string> {
	const decoder = new TextDecoder(encoding, {fatal: true});
	let line = 1;
	let last: Buffer = Buffer.alloc(0);
	for await (const chunk of source) {
		const bytes = Buffer.from(chunk as Uint8Array);
		let text: string;
		try {
			text = decoder.decode(bytes, {stream: true});
		} catch {
			// The end of the last chunk may start a character.
			const begun = last.subarray(last.lastIndexOf(NEWLINE) + 1).subarray(-CHARACTER_BYTES);
			const start = begun.findIndex((byte) => byte >= 0xc0);
			const unfinished = start === -1 || isUtf8(begun.subarray(start)) ? Buffer.alloc(0) : begun.subarray(start);
			throw undecodable(encoding, line + (encoding === 'utf-8' ? wholeLines(Buffer.concat([unfinished, bytes])) : 0));
		}

		line += newlinesIn(text);
		last = bytes;
		yield text;
	}

	try {
		yield decoder.decode();
	} catch {
		throw undecodable(encoding, line);
	}
}
