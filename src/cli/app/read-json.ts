import {parse, type ValueNode} from '@humanwhocodes/momoa';
import {FileFault, type Value} from './source-position.ts';

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
