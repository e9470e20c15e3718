import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {packageRoot} from '../src/package-root.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

const root = path.join(packageRoot, 'src');

/** Every `from './x.ts'`, `import './x.ts'` and `import('./x.ts')` of a text, type imports included. */
const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.{1,2}\/[^']+)'/g;

/** The files of src, each with the files that it imports, as paths below src. */
const importGraph = (): Graph => {
	const files = readdirSync(root, {recursive: true, encoding: 'utf8'}).filter((name) => /\.tsx?$/.test(name));
	return new Map(
		files.map((file) => [
			file,
			[...readFileSync(path.join(root, file), 'utf8').matchAll(IMPORTS)].map(([, target = '']) =>
				path.join(path.dirname(file), target),
			),
		]),
	);
};

/** Whatever a file imports, directly or through others. */
const reachableFrom = (graph: Graph, file: string): Set<string> => {
	const found = new Set<string>();
	const waiting = [...(graph.get(file) ?? [])];
	for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
		if (!found.has(next)) {
			found.add(next);
			waiting.push(...(graph.get(next) ?? []));
		}
	}

	return found;
};

/** The groups of files that all import each other, directly or through others. */
const cyclesOf = (graph: Graph): string[][] => {
	const reachable = new Map([...graph.keys()].map((file) => [file, reachableFrom(graph, file)]));
	const groups = [...reachable]
		.filter(([file, targets]) => targets.has(file))
		.map(([file, targets]) => [...targets].filter((target) => reachable.get(target)?.has(file)).sort());
	return [...new Map(groups.map((group) => [group.join(' '), group])).values()];
};

test('no files of src import each other in a cycle, not even for their types', (t) => {
	const graph = importGraph();
	t.true(graph.get('services.ts')?.includes('resolution/page-templates.ts'));
	t.deepEqual(cyclesOf(graph), []);
});

test('two cycles are found, and neither a file that uses one nor a leaf belongs to it', (t) => {
	const graph = new Map([
		['a.ts', ['b.ts', 'leaf.ts']],
		['b.ts', ['c.ts', 'leaf.ts']],
		['c.ts', ['a.ts']],
		['user.ts', ['a.ts', 'd.ts']],
		['d.ts', ['e.ts']],
		['e.ts', ['d.ts']],
		['leaf.ts', []],
	]);
	t.deepEqual(cyclesOf(graph), [
		['a.ts', 'b.ts', 'c.ts'],
		['d.ts', 'e.ts'],
	]);
});
