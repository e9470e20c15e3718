import {Tokenizer, TokenType} from '@streamparser/json';
import {parseJson} from '../../../platform/http/untrusted-json.ts';
import {inputError, OperatorError} from '../../cli-errors.ts';
import {
	type ImportRow,
	isObject,
	jsonRow,
	MAX_READ_BYTES,
	type Place,
	plainLines,
	type Wrapping,
} from './import-row.ts';
import {linesOf, type Source, textOf} from './lines.ts';

type JsonElement = {place: Place; text: string; wrapping: Wrapping};

/** The framing of rows: an array, the array under a key of an object, or none. `rows`: bracket depth of a row. */
type Container = {rows: number; wrapping: Wrapping};

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

/**
 * Splits JSON into the source texts of its elements, holding at most one of them. Elements are those of arrays, of the
 * array under a list's key, and concatenated objects; several such values may follow each other. The contents of an
 * element are validated by its parser.
 */
export const createElementReader = () => {
	let elements: JsonElement[] = [];
	let container: Container | null = null;
	let depth = 0;
	let start: number | null = null;
	let item = 0;
	let key: unknown = null;
	let previous: TokenType | null = null;
	/** The bytes from the offset `base` to `read`, in the pieces they came in. */
	let pieces: Buffer[] = [];
	let base = 0;
	let read = 0;
	/** The line of the offset `counted`, which only grows. */
	let line = 1;
	let counted = 0;

	const bytesBetween = (from: number, to: number): Buffer => {
		const kept = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
		pieces = [kept];
		return kept.subarray(from - base, to - base);
	};

	const lineOf = (offset: number): number => {
		line += newlinesIn(bytesBetween(counted, offset));
		counted = offset;
		return line;
	};

	const finish = (end: number, {rows, wrapping}: Container) => {
		if (start !== null) {
			item += 1;
			const place = {line: lineOf(start), ...(rows > 0 ? {item} : {})};
			elements.push({place, text: bytesBetween(start, end).toString().trimEnd(), wrapping});
			start = null;
		}
	};

	const begin = (token: TokenType, offset: number): Container => {
		if (token === TokenType.LEFT_BRACKET) {
			return inArray;
		}

		if (token !== TokenType.LEFT_BRACE) {
			throw inputError(`Line ${lineOf(offset)} of the JSON file has neither an object nor an array`);
		}

		start = offset;
		return loose;
	};

	const tokenizer = new Tokenizer({separator: ''});
	tokenizer.onToken = ({token, value, offset}) => {
		const opens = token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET;
		const closes = token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET;
		if (container === null) {
			container = begin(token, offset);
		} else if (depth === container.rows) {
			if (closes || token === TokenType.COMMA) {
				finish(offset, container);
				container = closes && depth === 2 ? rest : container;
			} else {
				start ??= offset;
			}
		} else if (container === loose && depth === 1) {
			if (token === TokenType.LEFT_BRACKET && previous === TokenType.COLON && listKeys.has(key)) {
				container = underKey(String(key));
				start = null;
			} else if (token === TokenType.STRING) {
				key = previous === TokenType.COLON ? key : value;
			}
		}

		depth += opens ? 1 : closes ? -1 : 0;
		previous = token;
		if (depth === 0) {
			finish(offset + 1, container);
			container = null;
		}
	};

	/** Joins no pieces of an element that goes on. */
	const drop = (to: number) => {
		if (to > base) {
			lineOf(to);
			pieces = [bytesBetween(to, read)];
			base = to;
		}
	};

	/** @param from the offset of the bytes that the tokenizer failed in. */
	const failure = (error: unknown, from: number): Error => {
		if (error instanceof OperatorError) {
			return error;
		}

		const message = error instanceof Error ? error.message : '';
		const [, what, at] = /^(Unexpected ".{1,2}") at chunk position "(\d+)"/su.exec(message) ?? [];
		const line = lineOf(at === undefined ? read : from + Number(at));
		return inputError(`The JSON file cannot be read beyond line ${line}: ${what ?? 'It ends within a value'}`);
	};

	return {
		/** Elements completed by the next bytes; an error follows those before it. */
		push: (bytes: Buffer): {elements: JsonElement[]; fault: Error | null} => {
			elements = [];
			pieces.push(bytes);
			read += bytes.length;
			try {
				tokenizer.write(bytes);
			} catch (error) {
				return {elements, fault: failure(error, read - bytes.length)};
			}

			drop(start ?? read);
			const fault =
				read - base > MAX_READ_BYTES
					? inputError(`The value that begins in line ${line} of the JSON file is longer than ${MAX_READ_BYTES} bytes`)
					: null;
			return {elements, fault};
		},
		/** @throws OperatorError for a truncated or empty file. */
		end: (): void => {
			if (container !== null) {
				throw inputError(`The JSON ${container === loose ? 'object' : 'array'} has no end`);
			}

			if (previous === null) {
				throw inputError('The file contains no JSON');
			}
		},
	};
};

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
