import {Tokenizer, TokenType} from '@streamparser/json';
import {isObject} from '../../../links/links/import/canonical-json.ts';
import {parseJson} from '../../../platform/http/untrusted-json.ts';
import {inputError, OperatorError} from '../../cli-errors.ts';
import {linesOf, type Source, textOf} from '../../lines.ts';
import {type ImportRow, jsonRow, MAX_READ_BYTES, type Place, plainLines, type RowFraming} from './import-row.ts';

type JsonElement = {place: Place; text: string; wrapping: RowFraming};

/** The framing of rows: an array, the array under a key of an object, or none. `rows`: bracket depth of a row. */
type Container = {rows: number; wrapping: RowFraming};

const inArray: Container = {rows: 1, wrapping: {open: '[\n', between: ',\n', close: '\n]\n'}};
const loose: Container = {rows: 0, wrapping: plainLines};
const underKey = (key: string): Container => ({
	rows: 2,
	wrapping: {open: `{${JSON.stringify(key)}: [\n`, between: ',\n', close: '\n]}\n'},
});
/** The rest of an object whose rows are read. */
const rest: Container = {rows: Number.POSITIVE_INFINITY, wrapping: plainLines};

/** Keys of lists in API answers: `links` of Bitly, `data` of our own. */
const listKeys = new Set<unknown>(['links', 'data']);

const NEWLINE = 0x0a;

const newlinesIn = (bytes: Buffer): number => {
	let count = 0;
	for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
		count += 1;
	}

	return count;
};

const opens = (token: TokenType): boolean => token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET;
const closes = (token: TokenType): boolean => token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET;

/**
 * Splits JSON into the source texts of its elements, holding at most one of them. Elements are those of arrays, of the
 * array under a list's key, and concatenated objects; several such values may follow each other. The contents of an
 * element are validated by its parser.
 */
export class ElementReader {
	readonly #tokenizer = new Tokenizer({separator: ''});
	#elements: JsonElement[] = [];
	#container: Container | null = null;
	#depth = 0;
	/** The offset of the element that is being read. */
	#start: number | null = null;
	#item = 0;
	#key: unknown = null;
	#previous: TokenType | null = null;
	/** The bytes from the offset `base` to `read`, in the pieces they came in. */
	#pieces: Buffer[] = [];
	#base = 0;
	#read = 0;
	/** The line of the offset `counted`, which only grows. */
	#line = 1;
	#counted = 0;

	constructor() {
		this.#tokenizer.onToken = (token) => this.#take(token);
	}

	/** Elements completed by the next bytes; an error follows those before it. */
	push(bytes: Buffer): {elements: JsonElement[]; fault: Error | null} {
		this.#elements = [];
		this.#pieces.push(bytes);
		this.#read += bytes.length;
		try {
			this.#tokenizer.write(bytes);
		} catch (error) {
			return {elements: this.#elements, fault: this.#failure(error, this.#read - bytes.length)};
		}

		this.#dropUpTo(this.#start ?? this.#read);
		const isTooLong = this.#read - this.#base > MAX_READ_BYTES;
		const tooLong = `The value that begins in line ${this.#line} of the JSON file is longer than ${MAX_READ_BYTES} bytes`;
		return {elements: this.#elements, fault: isTooLong ? inputError(tooLong) : null};
	}

	/** @throws OperatorError for a truncated or empty file. */
	end(): void {
		if (this.#container !== null) {
			throw inputError(`The JSON ${this.#container === loose ? 'object' : 'array'} has no end`);
		}

		if (this.#previous === null) {
			throw inputError('The file contains no JSON');
		}
	}

	#take({token, value, offset}: {token: TokenType; value: unknown; offset: number}): void {
		if (this.#container === null) {
			this.#container = this.#begin(token, offset);
		} else if (this.#depth === this.#container.rows) {
			if (closes(token) || token === TokenType.COMMA) {
				this.#finish(offset, this.#container);
				this.#container = closes(token) && this.#depth === 2 ? rest : this.#container;
			} else {
				this.#start ??= offset;
			}
		} else if (this.#container === loose && this.#depth === 1) {
			this.#lookForList(token, value);
		}

		this.#depth += opens(token) ? 1 : closes(token) ? -1 : 0;
		this.#previous = token;
		if (this.#depth === 0) {
			this.#finish(offset + 1, this.#container);
			this.#container = null;
		}
	}

	#begin(token: TokenType, offset: number): Container {
		if (token === TokenType.LEFT_BRACKET) {
			return inArray;
		}

		if (token !== TokenType.LEFT_BRACE) {
			throw inputError(`Line ${this.#lineOf(offset)} of the JSON file has neither an object nor an array`);
		}

		this.#start = offset;
		return loose;
	}

	/** An object may turn out to be an API's answer, whose rows are in a list of it. */
	#lookForList(token: TokenType, value: unknown): void {
		const isValue = this.#previous === TokenType.COLON;
		if (isValue && token === TokenType.LEFT_BRACKET && listKeys.has(this.#key)) {
			this.#container = underKey(String(this.#key));
			this.#start = null;
		} else if (!isValue && token === TokenType.STRING) {
			this.#key = value;
		}
	}

	#finish(end: number, {rows, wrapping}: Container): void {
		if (this.#start !== null) {
			this.#item += 1;
			const place = {line: this.#lineOf(this.#start), ...(rows > 0 ? {item: this.#item} : {})};
			this.#elements.push({place, text: this.#bytesBetween(this.#start, end).toString().trimEnd(), wrapping});
			this.#start = null;
		}
	}

	#bytesBetween(from: number, to: number): Buffer {
		const kept = this.#pieces.length === 1 && this.#pieces[0] ? this.#pieces[0] : Buffer.concat(this.#pieces);
		this.#pieces = [kept];
		return kept.subarray(from - this.#base, to - this.#base);
	}

	#lineOf(offset: number): number {
		this.#line += newlinesIn(this.#bytesBetween(this.#counted, offset));
		this.#counted = offset;
		return this.#line;
	}

	/** Joins no pieces of an element that goes on. */
	#dropUpTo(offset: number): void {
		if (offset > this.#base) {
			this.#lineOf(offset);
			this.#pieces = [this.#bytesBetween(offset, this.#read)];
			this.#base = offset;
		}
	}

	/** @param from the offset of the bytes that the tokenizer failed in. */
	#failure(error: unknown, from: number): Error {
		if (error instanceof OperatorError) {
			return error;
		}

		const message = error instanceof Error ? error.message : '';
		const [, what, at] = /^(Unexpected ".{1,2}") at chunk position "(\d+)"/su.exec(message) ?? [];
		const line = this.#lineOf(at === undefined ? this.#read : from + Number(at));
		return inputError(`The JSON file cannot be read beyond line ${line}: ${what ?? 'It ends within a value'}`);
	}
}

/**
 * The rows of JSON of any length: of an array, of an API's list, or concatenated objects. A malformed element fails
 * alone.
 * @throws OperatorError if the file does not continue as JSON.
 */
export async function* jsonRows(source: Source): AsyncGenerator<ImportRow> {
	const reader = new ElementReader();
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

const bound = {
	characters: MAX_READ_BYTES,
	fault: (line: number) => inputError(`Line ${line} is longer than ${MAX_READ_BYTES} characters`),
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
