import {parse} from '@humanwhocodes/momoa';
import {Composer, type CST, type Document, isNode, isScalar, Lexer, LineCounter, type Node, Parser, visit} from 'yaml';

/** Both count from 1. */
export type Position = ReturnType<LineCounter['linePos']>;

/** A document as it is written: its value, and the position of a part, else of the part around it. */
export type Source = {value: unknown; at: (path: readonly string[]) => Position};

const MAX_ALIASES = 100;
/** The composer calls itself for each level, and a full stack ends the process. */
const MAX_DEPTH = 200;

/** The tokens of YAML. @throws RangeError if it is nested too deeply. */
function* tokensOf(text: string): Generator<CST.Token> {
	const parser = new Parser();
	for (const lexeme of new Lexer().lex(text)) {
		yield* parser.next(lexeme);
		if (parser.stack.length > MAX_DEPTH) {
			throw new RangeError('nested too deeply');
		}
	}

	yield* parser.end();
}

/** The forbidden parts of a document, with their offsets. */
const refusedIn = (document: Document): Array<[offset: number, words: string]> => {
	const refused = document.errors.map(({pos: [at], message}): [number, string] => [at, message]);
	const refuse = ({range}: Pick<Node, 'range'>, words: string) => void refused.push([range?.[0] ?? 0, words]);
	if (document.directives?.yaml.version !== '1.2') {
		refused.push([0, 'it must be YAML 1.2']);
	}

	let aliases = 0;
	visit(refused.length > 0 ? null : document, {
		Value: (_, node) => (node.tag === undefined ? undefined : refuse(node, 'tags are not read: write a plain value')),
		Pair: (_, {key}) =>
			isScalar(key) && key.value === '<<' ? refuse(key, 'merge keys are not read: write the fields') : undefined,
		Alias: (_, alias) => {
			const [from, to] = alias.resolve(document)?.range ?? [];
			const [at] = alias.range ?? [0];
			aliases += 1;
			if (aliases > MAX_ALIASES) {
				refuse(alias, `more than ${MAX_ALIASES} aliases`);
				return visit.BREAK;
			}

			return from === undefined || to === undefined || (from <= at && at < to)
				? refuse(alias, `*${alias.source} has no anchor before it`)
				: undefined;
		},
	});
	return refused;
};

/** The parts of a text that are documents. @throws an error with line and column for invalid JSON. */
const rangesOf = (text: string, isJson: boolean): Array<[from: number, to: number]> => {
	if (!isJson) {
		return [[0, text.length]];
	}

	const {body} = parse(text, {mode: 'json'});
	const roots = body.type === 'Array' ? body.elements.map(({value}) => value) : [body];
	return roots.map(({loc: {start, end}}) => [start.offset, end.offset]);
};

/**
 * The documents of YAML 1.2 (core schema) or JSON, which may be an array of them, without empty ones. Each is read when it
 * is asked for. @param complain takes a fault.
 */
export function* sourcesOf(
	text: string,
	isJson: boolean,
	complain: (position: Position, words: string) => void,
): Generator<Source> {
	const lines = new LineCounter();
	for (const {index} of text.matchAll(/(?<=^|\n)/g)) {
		lines.addNewLine(index);
	}

	let last = lines.linePos(0);
	try {
		for (const [from, to] of rangesOf(text, isJson)) {
			const composer = new Composer({schema: 'core', merge: false, prettyErrors: false, logLevel: 'silent'});
			for (const document of composer.compose(tokensOf(text.slice(from, to)), true, to - from)) {
				const root = document.contents;
				const at: Source['at'] = (path) => {
					const parts = [...path.keys()].map((end) => document.getIn(path.slice(0, end + 1), true)).reverse();
					const found = parts.find((part): part is Node => isNode(part) && part.range != null) ?? root;
					return lines.linePos(from + (found?.range?.[0] ?? 0));
				};
				last = at([]);
				const refused = refusedIn(document);
				for (const [offset, words] of refused) {
					complain(lines.linePos(from + offset), words);
				}

				if (refused.length === 0 && root !== null && !(isScalar(root) && root.value === null)) {
					yield {value: document.toJS({maxAliasCount: 10 * MAX_ALIASES}), at};
				}
			}
		}
	} catch (error) {
		const {line, column: col = 1, message} = error as Error & {line?: number; column?: number};
		if (line !== undefined) {
			complain({line, col}, `not JSON: ${message.split(' (', 1)[0]}`);
		} else if (error instanceof RangeError || error instanceof ReferenceError) {
			complain(last, error instanceof RangeError ? 'nested too deeply' : 'aliases for too many values');
		} else {
			throw error;
		}
	}
}
