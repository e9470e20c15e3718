import path from 'node:path';
import type {Plugin} from 'esbuild';
import {packageRoot} from '../../src/package-root.ts';

/**
 * Files that take for themselves what the tests of a process share: `fetch`, the heap, a hook for each test, its thread for seconds,
 * what `startService` starts.
 */
const ALONE = new Set([
	'test/bench/match-accuracy.ts',
	'test/client/platform.ts',
	'test/hostile/fuzz.ts',
	'test/resolution/link-memory.ts',
	'test/billing/entitlements.ts',
	'test/billing/model/sequences.ts',
	'test/workers/again.ts',
	'test/workers/again-with-redis.ts',
]);

/** So few that no group is still at it when all the others are done. */
const FILES_OF_A_GROUP = 12;

/** Test files that share a process, by the path that they are compiled to, without its ending. */
export type Groups = Map<string, string[]>;

/** What a file's tests are told by: where it is below `test/`. */
const titleOf = (file: string): string => withoutEnding(path.relative(path.join(packageRoot, 'test'), file));

const withoutEnding = (file: string): string => file.replace(/\.tsx?$/, '');

/** Each test file for itself, as where it is named by hand. */
export const eachAlone = (files: string[]): Groups => new Map(files.map((file) => [withoutEnding(file), [file]]));

/**
 * Neighbours together, in the order of their paths and of whichever folders: half of what a process of few files takes
 * is to load and warm up what all of them need.
 */
export const groupTests = (files: string[]): Groups => {
	const groups = eachAlone(files.filter((file) => ALONE.has(file)));
	const others = files.filter((file) => !ALONE.has(file));
	const size = Math.ceil(others.length / Math.ceil(others.length / FILES_OF_A_GROUP));
	for (let start = 0; start < others.length; start += size) {
		const group = others.slice(start, start + size);
		groups.set(path.join('test', String(start / size + 1).padStart(2, '0')), group);
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
				grouped.has(importer) ? {path: titleOf(importer), namespace: 'ava'} : undefined,
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
