import {FileFault, type Located} from './located.ts';
import {attributeName, DEEPEST, documentOf, type Element} from './read-xml.ts';

const XML = 0x0003;
const STRING_POOL = 0x0001;
const RESOURCE_MAP = 0x0180;
const START_ELEMENT = 0x0102;
const END_ELEMENT = 0x0103;
const UTF8_FLAG = 0x100;
/** Shorter ones would overlap. */
const ATTRIBUTE_BYTES = 20;
const NO_STRING = 0xffff_ffff;

/** Strings may overlap, so that the file's size does not limit their sum. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Android's attributes are known by these ids; tools that shrink an APK may remove their names. */
const names: ReadonlyMap<number, string> = new Map([
	[0x0101_0003, 'name'],
	[0x0101_0010, 'exported'],
	[0x0101_0024, 'value'],
	[0x0101_0027, 'scheme'],
	[0x0101_0028, 'host'],
	[0x0101_002a, 'path'],
	[0x0101_002b, 'pathPrefix'],
	[0x0101_002c, 'pathPattern'],
	[0x0101_04ee, 'autoVerify'],
]);

export const isBinaryXml = (bytes: Buffer): boolean => bytes.length >= 8 && bytes.readUInt16LE(0) === XML;

type Pool = {text: (index: number) => string};

/** The strings of a pool, decoded when they are first needed. */
const readPool = (chunk: Buffer): Pool => {
	const [count, flags, start] = [chunk.readUInt32LE(8), chunk.readUInt32LE(16), chunk.readUInt32LE(20)];
	const headerSize = chunk.readUInt16LE(2);
	const isUtf8 = (flags & UTF8_FLAG) !== 0;
	const known = new Map<number, string>();
	let bytes = 0;
	const decode = (index: number): string => {
		let offset = start + chunk.readUInt32LE(headerSize + index * 4);
		// A length takes a second unit if the first has its highest bit set.
		const length = (unit: 1 | 2): number => {
			const read = () => {
				offset += unit;
				return chunk.readUIntLE(offset - unit, unit);
			};
			const [bits, first] = [unit * 8, read()];
			const high = 2 ** (bits - 1);
			return first < high ? first : (first - high) * 2 ** bits + read();
		};
		const characters = length(isUtf8 ? 1 : 2);
		const size = isUtf8 ? length(1) : characters * 2;
		bytes += size;
		if (bytes > MOST_BYTES) {
			throw new RangeError('its strings are too long');
		}

		return chunk.toString(isUtf8 ? 'utf8' : 'utf16le', offset, offset + size);
	};
	return {
		text: (index) => {
			if (index >= count) {
				return '';
			}

			const text = known.get(index) ?? decode(index);
			known.set(index, text);
			return text;
		},
	};
};

/** A typed value as a source manifest has it; a reference to a resource begins with `@`. */
const valueText = (type: number, data: number, pool: Pool): string => {
	const number = data | 0;
	const byType: Record<number, () => string> = {
		1: () => `@0x${data.toString(16).padStart(8, '0')}`,
		3: () => pool.text(data),
		18: () => String(data !== 0),
	};
	return byType[type]?.() ?? String(number);
};

const readElement = (file: string, chunk: Buffer, pool: Pool, ids: readonly number[]): Element => {
	const place = {file, line: chunk.readUInt32LE(8)};
	const body = chunk.readUInt16LE(2);
	const short = (more: number) => chunk.readUInt16LE(body + more);
	const [start, size, count] = [short(8), short(10), short(12)] as const;
	if (count > 0 && size < ATTRIBUTE_BYTES) {
		throw new RangeError('an attribute is too short');
	}

	const attributes = new Map<string, Located>();
	for (let index = 0; index < count; index += 1) {
		const offset = body + start + index * size;
		const word = (more: number) => chunk.readUInt32LE(offset + more);
		const [uri, name, raw, data] = [word(0), word(4), word(8), word(16)] as const;
		const known = names.get(ids[name] ?? 0);
		const text = raw === NO_STRING ? valueText(chunk.readUInt8(offset + 15), data, pool) : pool.text(raw);
		attributes.set(known === undefined ? attributeName(pool.text(uri), pool.text(name)) : `android:${known}`, {
			text,
			place,
		});
	}

	return {name: pool.text(chunk.readUInt32LE(body + 4)), attributes, children: [], text: '', place};
};

/**
 * Android's compiled form of an XML document, which an APK has. The lines are those of the manifest it was made from.
 * @throws FileFault
 */
export const readBinaryXml = (bytes: Buffer, file: string): Element => {
	const root: Element = {name: '', attributes: new Map(), children: [], text: '', place: {file}};
	const open = [root];
	let pool: Pool = {text: () => ''};
	let ids: number[] = [];
	try {
		for (let offset = bytes.readUInt16LE(2); offset + 8 <= bytes.length; ) {
			const [type, size] = [bytes.readUInt16LE(offset), bytes.readUInt32LE(offset + 4)];
			const chunk = bytes.subarray(offset, offset + size);
			if (size < 8) {
				throw new RangeError('a chunk has no length');
			}

			if (type === STRING_POOL) {
				pool = readPool(chunk);
			} else if (type === RESOURCE_MAP) {
				ids = Array.from({length: (chunk.length - 8) >> 2}, (_, index) => chunk.readUInt32LE(8 + index * 4));
			} else if (type === START_ELEMENT && open.length <= DEEPEST) {
				const element = readElement(file, chunk, pool, ids);
				open.at(-1)?.children.push(element);
				open.push(element);
			} else if (type === START_ELEMENT) {
				throw new RangeError('it is nested too deeply');
			} else if (type === END_ELEMENT) {
				open.pop();
			}

			offset += size;
		}
	} catch (error) {
		if (error instanceof RangeError) {
			throw new FileFault(`it is not a valid binary manifest: ${error.message}`, {file});
		}

		throw error;
	}

	return documentOf(root);
};
