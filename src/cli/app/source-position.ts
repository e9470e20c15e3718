import {createReadStream} from 'node:fs';
import {type Finding, findingsOf} from '../../operations/finding.ts';

/** A position in a file of an app. */
export type Place = {file: string; line?: number | null};

/** A text and its position. */
export type Located = {text: string; place: Place};

/** A value of a plist or of JSON, with positions. */
export type Value = {
	place: Place;
	content: string | number | boolean | null | readonly Value[] | ReadonlyMap<string, Value>;
};

/** The fault of an app's file that cannot be read in the expected format. */
export class FileFault extends Error {
	override name = 'FileFault';

	constructor(
		message: string,
		readonly place: Place,
		readonly next = 'Correct the file',
	) {
		super(message);
	}
}

/** A position as terminals and editors open it: `FILE:LINE`. */
export const placeText = ({file, line}: Place): string => (line == null ? file : `${file}:${line}`);

/** The fields of an object; none of another value. */
export const fieldsOf = ({content}: Value): ReadonlyMap<string, Value> =>
	content instanceof Map ? (content as ReadonlyMap<string, Value>) : new Map();

/** The value below a path of names, or undefined. */
export const at = (value: Value | undefined, ...path: string[]): Value | undefined =>
	path.reduce<Value | undefined>((found, name) => found && fieldsOf(found).get(name), value);

/** The elements of a list; one value counts as a list of one. */
export const listOf = (value: Value | undefined): readonly Value[] =>
	value === undefined || value.content === null ? [] : Array.isArray(value.content) ? value.content : [value];

/** A text, or undefined for another value. */
export const textOf = (value: Value | undefined): Located | undefined =>
	typeof value?.content === 'string' ? {text: value.content, place: value.place} : undefined;

/** The texts of a list. */
export const textsOf = (value: Value | undefined): Located[] => listOf(value).flatMap((one) => textOf(one) ?? []);

/** Whether the build fills in the text: `${applicationId}`, `$(PRODUCT_BUNDLE_IDENTIFIER)`, `@string/host`. */
export const isPlaceholder = (text: string): boolean => /\$[{(]|^@/.test(text);

/** The literal texts before, between and after the placeholders of a text. */
const literalParts = (text: string): string[] => {
	const [first = '', ...others] = text.startsWith('@') ? ['', '{}'] : text.split(/\$(?=[{(])/);
	return [
		first,
		...others.map((part) => {
			const end = part.indexOf(part.startsWith('{') ? '}' : ')');
			return end < 0 ? '' : part.slice(end + 1);
		}),
	];
};

/** Whether the build may make `wanted` of a text: placeholders stand for anything, the rest for itself. */
export const mayBecome = (text: string, wanted: string): boolean => {
	const parts = literalParts(text);
	const [first = '', last = ''] = [parts[0], parts.at(-1)];
	let from = first.length;
	for (const part of parts.slice(1, -1)) {
		const found = wanted.indexOf(part, from);
		if (found < 0) {
			return false;
		}

		from = found + part.length;
	}

	return parts.length > 1 && wanted.startsWith(first) && wanted.endsWith(last) && from <= wanted.length - last.length;
};

/** The next step for a text that the build fills in. */
export const filledInHint = (text: string): string =>
	text.startsWith('@')
		? 'Write the value itself: resources are not read here'
		: 'Check what the build made of it, such as the merged manifest';

/** The finding for a text that the build fills in. @param what begins the message, such as `go.example.com may be the host`. */
export const filledInFinding = (area: string, check: string, what: string, {text, place}: Located): Finding =>
	findingsOf(area).warn(check, `${what} ${text}, which the build fills in (${placeText(place)})`, filledInHint(text));

/** No manifest, plist or configuration of an app is nearly as large. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * A stream's text, without a byte order mark.
 * @param next the next step for a binary file. @throws FileFault for one, and for too many bytes.
 */
export const readText = async (
	stream: AsyncIterable<Uint8Array | string>,
	file: string,
	next: string,
): Promise<string> => {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const part of stream) {
		const chunk = Buffer.from(part as Uint8Array);
		// Before the size, because an APK is larger than any text.
		if (chunk.includes(0)) {
			throw new FileFault('it is a binary file, and only text is read', {file}, next);
		}

		chunks.push(chunk);
		bytes += chunk.length;
		if (bytes > MAX_BYTES) {
			throw new FileFault(`it has more than ${MAX_BYTES} bytes`, {file});
		}
	}

	return new TextDecoder().decode(Buffer.concat(chunks));
};

/** A file's text, as `readText` reads it. @throws the system's error as well, for a file that cannot be opened. */
export const readAppFile = (path: string, file: string, next: string): Promise<string> =>
	readText(createReadStream(path), file, next);
