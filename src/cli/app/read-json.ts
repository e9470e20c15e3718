import {type Expression, type Property, parseExpressionAt, type SpreadElement, tokenizer} from 'acorn';
import {FileFault, type Value} from './located.ts';

const LANGUAGE = {ecmaVersion: 2022, locations: true} as const;

const keyOf = (property: Property | SpreadElement): string | null => {
	if (property.type !== 'Property' || property.computed || property.kind !== 'init') {
		return null;
	}

	const {key} = property;
	return key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : null;
};

/**
 * JSON with positions. As JSON5, which Expo reads, it may have comments, trailing commas and bare names: all of that is
 * JavaScript, of which only literals are accepted. Nothing is executed.
 * @throws FileFault
 */
export const readJson = (text: string, file: string): Value => {
	const valueAt = (node: Expression): Value => {
		const place = {file, line: node.loc?.start.line ?? null};
		if (node.type === 'ObjectExpression') {
			const content = new Map<string, Value>();
			for (const property of node.properties) {
				const key = keyOf(property);
				if (key === null || property.type !== 'Property') {
					throw new FileFault('it is not valid JSON', {file, line: property.loc?.start.line ?? null});
				}

				content.set(key, valueAt(property.value));
			}

			return {place, content};
		}

		if (node.type === 'ArrayExpression') {
			const content = node.elements.map((element) => {
				if (element === null || element.type === 'SpreadElement') {
					throw new FileFault('it is not valid JSON', place);
				}

				return valueAt(element);
			});
			return {place, content};
		}

		if (node.type === 'Literal' && ['string', 'number', 'boolean'].includes(typeof node.value)) {
			return {place, content: node.value as string | number | boolean};
		}

		if ((node.type === 'Literal' && node.raw === 'null') || node.type === 'UnaryExpression') {
			return {place, content: null};
		}

		throw new FileFault('it is not valid JSON', place);
	};

	try {
		const node = parseExpressionAt(text, 0, LANGUAGE);
		const [after] = tokenizer(text.slice(node.end), LANGUAGE);
		if (after !== undefined) {
			throw new FileFault('text follows the JSON', {file, line: node.loc?.end.line ?? null});
		}

		return valueAt(node);
	} catch (error) {
		if (error instanceof SyntaxError) {
			const {loc} = error as SyntaxError & {loc?: {line: number}};
			throw new FileFault(`it is not valid JSON: ${error.message.replace(/ \(\d+:\d+\)$/, '')}`, {
				file,
				line: loc?.line ?? null,
			});
		}

		if (error instanceof RangeError) {
			throw new FileFault('it is nested too deeply', {file});
		}

		throw error;
	}
};
