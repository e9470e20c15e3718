import {type Element, readXml} from './read-xml.ts';
import {FileFault, type Value} from './source-position.ts';

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

/** A property list in XML. @throws FileFault */
export const readPlist = (text: string, file: string): Value => {
	const root = readXml(text, file);
	const [value] = root.children;
	if (root.name !== 'plist' || value === undefined) {
		throw new FileFault('it is not a property list', root.place, GIVE);
	}

	return read(value);
};
