import path from 'node:path';
import type {Plugin} from 'esbuild';
import {packageRoot} from '../../src/package-root.ts';

/** Files that take for themselves what the tests of a process share: its `fetch`, or a hook for each test. */
const ALONE = new Set(['test/client/platform.ts', 'test/billing/entitlements.ts', 'test/billing/model/sequences.ts']);

/** So few that no group is still at it when all the others are done. */
const FILES_OF_A_GROUP = 8;

/** Test files that share a process, by the path that they are compiled to, without its ending. */
export type Groups = Map<string, string[]>;

const withoutEnding = (file: string): string => file.replace(/\.tsx?$/, '');

/** Each test file for itself, as where it is named by hand. */
export const eachAlone = (files: string[]): Groups => new Map(files.map((file) => [withoutEnding(file), [file]]));

/** Neighbours together: half of what a process takes is to load and warm up what all of them need. */
export const groupTests = (files: string[]): Groups => {
	const isAlone = (file: string) => ALONE.has(file) || path.dirname(file) === 'test';
	const groups = eachAlone(files.filter(isAlone));
	const others = files.filter((file) => !isAlone(file));
	for (const folder of new Set(others.map((file) => path.dirname(file)))) {
		const neighbours = others.filter((file) => path.dirname(file) === folder);
		const size = Math.ceil(neighbours.length / Math.ceil(neighbours.length / FILES_OF_A_GROUP));
		for (let start = 0; start < neighbours.length; start += size) {
			groups.set(path.join(folder, String(start / size + 1)), neighbours.slice(start, start + size));
		}
	}

	return groups;
};

/** Makes a module of each group, `group:` and its path, whose files find an ava that says their name before each title. */
export const groupPlugin = (groups: Groups): Plugin => {
	const grouped = new Set(
		[...groups.values()]
			.filter(({length}) => length > 1)
			.flatMap((files) => files.map((file) => path.join(packageRoot, file))),
	);
	const generated = (lines: string[]) => ({contents: lines.join('\n'), resolveDir: packageRoot, loader: 'js'}) as const;
	return {
		name: 'groups of tests',
		setup: ({onResolve, onLoad}) => {
			onResolve({filter: /^group:/}, ({path: name}) => ({path: name.slice('group:'.length), namespace: 'group'}));
			onLoad({filter: /.*/, namespace: 'group'}, ({path: name}) =>
				generated((groups.get(name) ?? []).map((file) => `import './${file}';`)),
			);
			onResolve({filter: /^ava$/}, ({importer}) =>
				grouped.has(importer) ? {path: path.parse(importer).name, namespace: 'ava'} : undefined,
			);
			onLoad({filter: /.*/, namespace: 'ava'}, ({path: file}) =>
				generated([
					"import test from 'ava';",
					"import {inGroup} from './test/setup/in-group.ts';",
					`export default inGroup(test, '${file}');`,
				]),
			);
		},
	};
};
