import {SaxesParser} from 'saxes';
import {FileFault} from './located.ts';

/** Names of attributes in Android's namespace begin with `android:`, whatever prefix the file has for it. */
export type Attribute = {value: string; line: number | null};
export type Element = {
	name: string;
	attributes: ReadonlyMap<string, Attribute>;
	children: Element[];
	/** Text directly in the element. */
	text: string;
	line: number | null;
};

/** Most levels of nesting; real files have a few. A parser's work grows with the depth. */
export const DEEPEST = 100;

/** The namespace of the attributes of a manifest. */
const ANDROID = 'http://schemas.android.com/apk/res/android';

/** The name of an attribute, as `Element` has it. */
export const attributeName = (uri: string, local: string): string => (uri === ANDROID ? `android:${local}` : local);

/**
 * An XML document as a tree with line numbers. Entities of a document type are not expanded, and nothing is loaded.
 * @throws FileFault with the line of the first error.
 */
export const readXml = (text: string, file: string): Element => {
	const parser = new SaxesParser({xmlns: true, position: true});
	const root: Element = {name: '', attributes: new Map(), children: [], text: '', line: null};
	const open = [root];
	let attributes = new Map<string, Attribute>();
	let startLine = 1;
	const top = (): Element => open.at(-1) ?? root;
	parser.on('error', ({message}) => {
		throw new FileFault(`it is not valid XML: ${message.replace(/^\d+:\d+: |\.$/g, '')}`, {file, line: parser.line});
	});
	parser.on('opentagstart', () => {
		startLine = parser.line;
		if (open.length > DEEPEST) {
			throw new FileFault('it is nested too deeply', {file, line: startLine});
		}

		attributes = new Map();
	});
	// The namespace is known when the tag ends, the line only here.
	const lines = new Map<string, number>();
	parser.on('attribute', ({name}) => {
		lines.set(name, parser.line);
	});
	parser.on('opentag', (tag) => {
		for (const {name, uri, local, value} of Object.values(tag.attributes)) {
			attributes.set(attributeName(uri, local), {value, line: lines.get(name) ?? startLine});
		}

		lines.clear();
		const element: Element = {name: tag.name, attributes, children: [], text: '', line: startLine};
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
		throw new FileFault('it has no element', {file, line: null});
	}

	return document;
};

/** All elements of these names below an element, in the order of the document. */
export const elementsOf = (element: Element, ...names: string[]): Element[] =>
	element.children.flatMap((child) => [...(names.includes(child.name) ? [child] : []), ...elementsOf(child, ...names)]);
