import {createRequire} from 'node:module';
import {type Token, tokenizer} from 'acorn';
import test from 'ava';
import {transformSync} from 'esbuild';
import {below, read} from '../_files.ts';

// The build without processes of its own; the package's types are those of the other one.
const {checkSync} = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof import('recheck');

type Expression = {pattern: string; flags: string; file: string};

const expressionsOf = (file: string): Expression[] => {
	const {code} = transformSync(read(file), {loader: file.endsWith('x') ? 'tsx' : 'ts', jsx: 'automatic'});
	const tokens = tokenizer(code, {ecmaVersion: 'latest', sourceType: 'module'}) as Iterable<Token & {value?: unknown}>;
	return [...tokens].flatMap(({type, value}) =>
		type.label === 'regexp' ? [{...(value as Omit<Expression, 'file'>), file}] : [],
	);
};

const files = below('src').filter((name) => /\.tsx?$/.test(name));

test('no regular expression of src takes more than linear time, whatever text it is given', (t) => {
	t.timeout(600_000);
	const expressions = new Map(
		files.flatMap(expressionsOf).map((one): [string, Expression] => [`/${one.pattern}/${one.flags}`, one]),
	);
	t.true(expressions.size > 150);
	// By steps alone: what a time limit cuts off depends on how busy the machine is.
	const patient = {timeout: null, attackTimeout: null, incubationTimeout: null, seedingTimeout: null};
	const slow = [...expressions].flatMap(([text, {pattern, flags, file}]) => {
		const found = checkSync(pattern, flags, patient);
		const why = found.status === 'vulnerable' ? found.complexity.summary : found.status;
		return found.status === 'safe' ? [] : [`${text} in ${file}: ${why}`];
	});
	t.deepEqual(slow, []);
});

test('regular expressions built at run time are few, and contain only our own words', (t) => {
	const built = files.filter((file) => read(file).includes('new RegExp('));
	t.deepEqual(built.toSorted(), [
		'src/cli/terminal/printable.ts',
		'src/links/links/denied-schemes.ts',
		'src/platform/formula-guard.ts',
		'src/visits/resolution/answer-visit.ts',
	]);
});
