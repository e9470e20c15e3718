import {parse, type ValueNode} from '@humanwhocodes/momoa';
import {SaxesParser} from 'saxes';
import {FileFault, type Located, type Place, type Value} from './source-position.ts';

/**
 * JSON with positions. As JSON5, which Expo reads, it may have comments, trailing commas and bare names.
 * @throws FileFault with the line of the first error.
 */
export const readJson = (text: string, file: string): Value => {
	const valueAt = (node: ValueNode): Value => {
		const place = {file, line: node.loc.start.line};
		switch (node.type) {
			case 'Object': {
				const entries = node.members.map(({name, value}): [string, Value] => [
					name.type === 'Identifier' ? name.name : name.value,
					valueAt(value),
				]);
				return {place, content: new Map(entries)};
			}

			case 'Array':
				return {place, content: node.elements.map(({value}) => valueAt(value))};
			default:
				return {place, content: 'value' in node ? node.value : null};
		}
	};

	try {
		return valueAt(parse(text, {mode: 'json5'}).body);
	} catch (error) {
		if (error instanceof RangeError) {
			throw new FileFault('it is nested too deeply', {file});
		}

		const {message, line = null} = error as Error & {line?: number};
		throw new FileFault(`it is not valid JSON: ${message.replace(/ \(\d+:\d+\)$/, '')}`, {file, line});
	}
};

/** An element; names of attributes in Android's namespaces begin with `android:` and `tools:`, whatever their prefixes are. */
export type Element = {
	name: string;
	attributes: ReadonlyMap<string, Located>;
	children: Element[];
	text: string;
	place: Place;
};

/** Maximum levels of nesting; real files have a few. A parser's work grows with the depth. */
const MAX_DEPTH = 100;

const NAMESPACES: Readonly<Record<string, string>> = {
	'http://schemas.android.com/apk/res/android': 'android:',
	'http://schemas.android.com/tools': 'tools:',
};

/**
 * An XML document as a tree with line numbers. Entities of a document type are not expanded, and nothing is loaded.
 * @throws FileFault with the line of the first error.
 */
export const readXml = (text: string, file: string): Element => {
	const parser = new SaxesParser({xmlns: true, position: true});
	const root: Element = {name: '', attributes: new Map(), children: [], text: '', place: {file}};
	const open = [root];
	let start: Place = {file};
	const top = (): Element => open.at(-1) ?? root;
	const here = (): Place => ({file, line: parser.line});
	parser.on('error', ({message}) => {
		throw new FileFault(`it is not valid XML: ${message.replace(/^\d+:\d+: |\.$/g, '')}`, here());
	});
	parser.on('opentagstart', () => {
		start = here();
		if (open.length > MAX_DEPTH) {
			throw new FileFault('it is nested too deeply', start);
		}
	});
	// The namespace is known when the tag ends, the line only here.
	const places = new Map<string, Place>();
	parser.on('attribute', ({name}) => {
		places.set(name, here());
	});
	parser.on('opentag', (tag) => {
		const attributes = new Map(
			Object.values(tag.attributes).map(({name, uri, local, value}) => [
				`${NAMESPACES[uri] ?? ''}${local}`,
				{text: value, place: places.get(name) ?? start},
			]),
		);
		places.clear();
		const element: Element = {name: tag.name, attributes, children: [], text: '', place: start};
		top().children.push(element);
		open.push(element);
	});
	parser.on('text', (part) => {
		top().text += part;
	});
	parser.on('cdata', (part) => {
		top().text += part;
	});
	parser.on('closetag', () => {
		open.pop();
	});
	parser.write(text).close();
	const [document] = root.children;
	if (document === undefined) {
		throw new FileFault('it has no element', root.place);
	}

	return document;
};

/** All elements of these names below an element, in the order of the document. */
export const elementsOf = (element: Element, ...names: string[]): Element[] =>
	element.children.flatMap((child) => [...(names.includes(child.name) ? [child] : []), ...elementsOf(child, ...names)]);

const plistValue = ({name, children, text, place}: Element): Value => {
	if (name === 'dict') {
		const content = new Map<string, Value>();
		for (let index = 0; index < children.length; index += 2) {
			const [key, value] = children.slice(index, index + 2);
			if (key?.name !== 'key' || value === undefined || value.name === 'key') {
				throw new FileFault('a dictionary needs a value after each key', key?.place ?? place);
			}

			content.set(key.text, plistValue(value));
		}

		return {place, content};
	}

	if (name === 'array') {
		return {place, content: children.map((child) => plistValue(child))};
	}

	if (name === 'true' || name === 'false') {
		return {place, content: name === 'true'};
	}

	if (['string', 'integer', 'real', 'date', 'data'].includes(name)) {
		return {place, content: text};
	}

	throw new FileFault(`a property list has no element ${name}`, place);
};

const NEXT = 'Give the .entitlements file and the Info.plist of the project';

/** A property list in XML. @throws FileFault */
export const readPlist = (text: string, file: string): Value => {
	const root = readXml(text, file);
	const [value] = root.children;
	if (root.name !== 'plist' || value === undefined) {
		throw new FileFault('it is not a property list', root.place, NEXT);
	}

	return plistValue(value);
};
