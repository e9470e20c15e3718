import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {columnOf} from '../src/platform/db/columns.ts';
import {packageRoot} from '../src/platform/package-root.ts';

const src = path.join(packageRoot, 'src');

/**
 * The rooms of `src` in the order in which they may use each other: each only those before it. The client uses nothing,
 * because apps install it alone. '' are the files at the top: the table of routes, the pipeline, the composition root.
 */
export const ROOMS = ['client', 'platform', 'accounts', 'links', 'visits', 'operations', '', 'start', 'cli'] as const;

/** Files below `src`, each with the files that it imports; `types` are imports that leave no code behind. */
export type House = ReadonlyMap<string, {values: readonly string[]; types: readonly string[]}>;

/** `import {a} from './x.ts'`, `export … from`, `import './x.ts'` and `import('./x.ts')`. */
const IMPORT =
	/\b(?:import|export)\b(?<what>[^;'()]*?)\bfrom\s*'(?<from>\.{1,2}\/[^']+)'|\bimport\s*\(?\s*'(?<plain>\.{1,2}\/[^']+)'/g;

/** Whether a clause imports types alone: `type {A}`, or `{type A, type B}`. */
const isOfTypes = (what: string): boolean =>
	/^\s*type\b/.test(what) ||
	(/^\s*\{/.test(what) &&
		what
			.replace(/[{}\s]+$|^\s*\{/g, '')
			.split(',')
			.every((name) => /^\s*(?:type\s.*)?$/s.test(name)));

/** Reads the imports of every file of `src`. */
export const readHouse = (): House => {
	const files = readdirSync(src, {recursive: true, encoding: 'utf8'}).filter((name) => /\.tsx?$/.test(name));
	return new Map(
		files.sort().map((file) => {
			const imports = [...readFileSync(path.join(src, file), 'utf8').matchAll(IMPORT)].map(({groups = {}}) => ({
				target: path.join(path.dirname(file), groups['from'] ?? groups['plain'] ?? ''),
				isType: groups['what'] !== undefined && isOfTypes(groups['what']),
			}));
			const targets = (isType: boolean) => imports.filter((found) => found.isType === isType).map(({target}) => target);
			return [file, {values: targets(false), types: targets(true)}];
		}),
	);
};

const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '');

const rankOf = (file: string): number => (ROOMS as readonly string[]).indexOf(roomOf(file));

/** The imports that go up, as `FILE -> FILE`. Types may go up to `services.ts` alone. */
export const arrowsUp = (house: House): string[] =>
	[...house].flatMap(([file, {values, types}]) => [
		...values.filter((target) => rankOf(target) > rankOf(file)).map((target) => `${file} -> ${target}`),
		...types
			.filter((target) => rankOf(target) > rankOf(file) && target !== 'services.ts')
			.map((target) => `${file} -> ${target} (type)`),
	]);

/** The folder of a room, `ROOM/FOLDER`; null for a file at the top of its room. Deeper folders belong to theirs. */
const folderOf = (file: string): string | null => {
	const [room, folder, ...rest] = file.split('/');
	return rest.length === 0 ? null : `${room}/${folder}`;
};

/** What leads to what. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** What one leads to, directly or through others. */
const reachableFrom = (graph: Graph, one: string): Set<string> => {
	const found = new Set<string>();
	const waiting = [...(graph.get(one) ?? [])];
	for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
		if (!found.has(next)) {
			found.add(next);
			waiting.push(...(graph.get(next) ?? []));
		}
	}

	return found;
};

/** The groups that lead to each other, directly or through others. */
export const cyclesOf = (graph: Graph): string[][] => {
	const reachable = new Map([...graph.keys()].map((one) => [one, reachableFrom(graph, one)]));
	const groups = [...reachable]
		.filter(([one, targets]) => targets.has(one))
		.map(([one, targets]) => [...targets].filter((target) => reachable.get(target)?.has(one)).sort());
	return [...new Map(groups.map((group) => [group.join(' '), group])).values()];
};

/** The groups of folders of one room that import each other, types included, one line each. */
export const folderCycles = (house: House): string[] => {
	const graph = new Map<string, string[]>();
	for (const [file, {values, types}] of house) {
		const from = folderOf(file);
		const targets = [...values, ...types].filter((target) => roomOf(target) === roomOf(file)).map(folderOf);
		const others = targets.filter((target) => target !== null && target !== from) as string[];
		if (from !== null) {
			graph.set(from, [...(graph.get(from) ?? []), ...others]);
		}
	}

	return cyclesOf(graph)
		.map((group) => group.join(' '))
		.sort();
};

const linesOf = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1;

/**
 * The files of `src` that name a field of a link: by its name in the API (`utmTerm`), its column (`utm_term`) or its flag
 * (`utm-term`). Only useful for names that are no common words.
 */
export const filesNaming = (field: string): string[] => {
	const column = columnOf(field);
	const names = new RegExp(`(?<![\\w-])(?:${field}|${column}|${column.replaceAll('_', '-')})(?![\\w-])`);
	return [...readHouse().keys()].filter((name) => names.test(readFileSync(path.join(src, name), 'utf8')));
};

/** Maximum lines of a function; biome's formatting makes the indentation of its end that of its beginning. */
const MAX_FUNCTION_LINES = 80;

/** The functions of a file that are longer, each as `file:line, its length`. */
export const longFunctions = (name: string, text: string): string[] => {
	const lines = text.split('\n');
	return [...lines.entries()].flatMap(([at, line]) => {
		if (!/(?:=>|\)(?:: [^=]*)?) \{$/.test(line) || /^\t*(?:\} )?(?:if|for|while|switch|else|catch|do)\b/.test(line)) {
			return [];
		}

		const [indent = ''] = line.match(/^\t*/) ?? [];
		const length = lines.slice(at + 1).findIndex((later) => later !== '' && !later.startsWith(`${indent}\t`)) + 2;
		return length > MAX_FUNCTION_LINES ? [`${name}:${at + 1}, ${length} lines`] : [];
	});
};

/** What a list of places says: how many, and which. */
const printPlaces = (title: string, places: string[]): void => {
	console.log([`${title}: ${places.length}`, ...places.map((place) => `  ${place}`)].join('\n'));
};

const filesBelow = (folder: string, pattern: RegExp): string[] =>
	readdirSync(path.join(packageRoot, folder), {recursive: true, encoding: 'utf8'})
		.filter((name) => pattern.test(name))
		.map((name) => path.join(packageRoot, folder, name));

const printSize = (title: string, files: string[]): void => {
	console.log(`${title}: ${files.reduce((sum, file) => sum + linesOf(file), 0)} lines, ${files.length} files`);
};

const print = (): void => {
	const house = readHouse();
	printSize('src', filesBelow('src', /\.tsx?$/));
	printSize('test', filesBelow('test', /\.tsx?$/));
	printSize('documents', [...filesBelow('docs', /\.md$/), path.join(packageRoot, 'README.md')]);
	for (const name of ROOMS) {
		const files = [...house.keys()].filter((file) => roomOf(file) === name);
		const lines = files.reduce((sum, file) => sum + linesOf(path.join(src, file)), 0);
		console.log(
			`${(name || 'the top of src').padEnd(16)}${String(lines).padStart(7)} lines${String(files.length).padStart(5)} files`,
		);
	}

	const placesOf = (pattern: RegExp): string[] =>
		[...house.keys()].filter((name) => pattern.test(readFileSync(path.join(src, name), 'utf8')));
	console.log(`entries of src: ${readdirSync(src).length}`);
	printPlaces('imports that go up', arrowsUp(house));
	printPlaces('folder cycles inside rooms', folderCycles(house));
	printPlaces('files that name the link field utmTerm', filesNaming('utmTerm'));
	printPlaces('files that name match_clicks', placesOf(/\bmatch_clicks\b/));
	printPlaces('files with casts', placesOf(/\bas (?:never|unknown as)\b/));
	printPlaces(
		`functions over ${MAX_FUNCTION_LINES} lines`,
		[...house.keys()].flatMap((name) => longFunctions(name, readFileSync(path.join(src, name), 'utf8'))),
	);
};

if (process.argv[1]?.endsWith('house.ts')) {
	print();
}
