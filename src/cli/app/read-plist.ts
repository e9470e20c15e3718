import {isZip} from './apk.ts';
import {decoded, FileFault, type Place, type Value} from './located.ts';
import {type Element, readXml} from './read-xml.ts';

const MAGIC = 'bplist00';
const TRAILER_BYTES = 32;
/** Lists and texts may overlap, so that the file's size does not limit their sums. */
const MOST_REFERENCES = 100_000;
const MOST_TEXT_BYTES = 8 * 1024 * 1024;
/** The longest numbers that Apple's tools write. */
const MOST_NUMBER_BYTES = 16;

const isBinaryPlist = (bytes: Buffer): boolean => bytes.toString('latin1', 0, MAGIC.length) === MAGIC;

/** A value of a type that no setting of links has, such as a date. */
const OTHER = null;

/**
 * A binary property list. Each object is read once, however often others refer to it, so that a small file cannot
 * expand to a large value; a file that contains itself is refused.
 * @throws FileFault
 */
const readBinaryPlist = (bytes: Buffer, file: string): Value => {
	const place: Place = {file};
	const known = new Map<number, Value>();
	const open = new Set<number>();
	const trailer = bytes.subarray(-TRAILER_BYTES);
	const unsigned = (offset: number, size: number): number => {
		if (size > MOST_NUMBER_BYTES) {
			throw new RangeError('a number is too long');
		}

		let value = 0;
		for (let index = 0; index < size; index += 1) {
			value = value * 256 + bytes.readUInt8(offset + index);
		}

		return value;
	};

	const object = (number: number): Value => {
		const read = known.get(number);
		if (read !== undefined) {
			return read;
		}

		if (open.has(number)) {
			throw new RangeError('an object contains itself');
		}

		open.add(number);
		const value: Value = {place, content: contentOf(unsigned(table + number * offsetSize, offsetSize))};
		open.delete(number);
		known.set(number, value);
		return value;
	};

	let textBytes = 0;
	const text = (start: number, size: number, encoding: 'latin1' | 'utf16le'): string => {
		const part = bytes.subarray(start, start + size);
		textBytes += part.length;
		if (textBytes > MOST_TEXT_BYTES) {
			throw new RangeError('its texts are too long');
		}

		return (encoding === 'latin1' ? part : Buffer.from(part).swap16()).toString(encoding);
	};

	let referenced = 0;
	const references = (offset: number, count: number): Value[] => {
		referenced += count;
		if (referenced > MOST_REFERENCES) {
			throw new RangeError('it has too many objects');
		}

		return Array.from({length: count}, (_, index) => object(unsigned(offset + index * referenceSize, referenceSize)));
	};

	const contentOf = (offset: number): Value['content'] => {
		const kind = bytes.readUInt8(offset) >> 4;
		const low = bytes.readUInt8(offset) & 15;
		if (kind === 0) {
			return low === 8 || low === 9 ? low === 9 : OTHER;
		}

		if (kind === 1) {
			return unsigned(offset + 1, 2 ** low);
		}

		// Longer than 14: an integer with the length follows.
		const countSize = low === 15 ? 2 ** (bytes.readUInt8(offset + 1) & 15) : 0;
		const count = low === 15 ? unsigned(offset + 2, countSize) : low;
		const start = offset + 1 + (low === 15 ? 1 + countSize : 0);
		if (kind === 5 || kind === 6) {
			return text(start, kind === 5 ? count : count * 2, kind === 5 ? 'latin1' : 'utf16le');
		}

		if (kind === 10) {
			return references(start, count);
		}

		if (kind === 13) {
			const values = references(start, count * 2);
			return new Map(
				values
					.slice(0, count)
					.map((key, index) => [String(key.content), values[count + index] ?? {place, content: OTHER}]),
			);
		}

		return OTHER;
	};

	const [offsetSize, referenceSize] = [trailer[6] ?? 0, trailer[7] ?? 0];
	const table = trailer.length < TRAILER_BYTES ? 0 : unsigned(bytes.length - 8, 8);
	try {
		return object(unsigned(bytes.length - 16, 8));
	} catch (error) {
		if (error instanceof RangeError) {
			throw new FileFault(`it is not a valid binary property list: ${error.message}`, place);
		}

		throw error;
	}
};

const read = ({name, children, text, place}: Element): Value => {
	if (name === 'dict') {
		const content = new Map<string, Value>();
		for (let index = 0; index < children.length; index += 2) {
			const [key, value] = children.slice(index, index + 2);
			if (key?.name !== 'key' || value === undefined || value.name === 'key') {
				throw new FileFault('a dictionary needs a value after each key', key?.place ?? place);
			}

			content.set(key.text, read(value));
		}

		return {place, content};
	}

	if (name === 'array') {
		return {place, content: children.map((child) => read(child))};
	}

	if (name === 'true' || name === 'false') {
		return {place, content: name === 'true'};
	}

	if (['string', 'integer', 'real', 'date', 'data'].includes(name)) {
		return {place, content: text};
	}

	throw new FileFault(`a property list has no element ${name}`, place);
};

const GIVE = 'Give the .entitlements file and the Info.plist of the project';

/** A property list, XML or binary. @throws FileFault */
export const readPlist = (bytes: Buffer, file: string): Value => {
	if (isBinaryPlist(bytes)) {
		return readBinaryPlist(bytes, file);
	}

	if (isZip(bytes)) {
		throw new FileFault('it is an archive, which is not read', {file}, GIVE);
	}

	const root = readXml(decoded(bytes), file);
	const [value] = root.children;
	if (root.name !== 'plist' || value === undefined) {
		throw new FileFault('it is not a property list', root.place, GIVE);
	}

	return read(value);
};
