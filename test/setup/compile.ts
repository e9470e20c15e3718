import {cp, mkdir, mkdtemp, readdir, rm, symlink} from 'node:fs/promises';
import path from 'node:path';
import {build} from 'esbuild';
import {bundleOptions, lateEntries, mainOptions} from '../../.build/bundle-options.ts';
import {packageRoot} from '../../src/package-root.ts';
import {eachAlone, type Groups, groupPlugin, groupTests} from './group-tests.ts';
import {isGone} from './run-folder.ts';
import type {Teardown} from './teardown.ts';

const NAME = /^tests-(\d+)-/;
const NO_TESTS = /(^|\/)_|^(setup|helpers|fakes|fixtures)\//;

/** Packages that look for files of their own, or that hold the tests themselves; few tests load any of them but ava. */
const OUTSIDE = [
	'@ts-morph/common',
	'ava',
	'esbuild',
	'fast-check',
	'ink-testing-library',
	'playwright-core',
	'typescript',
];

/** A folder of this run in the package, where what is in it finds its packages; what a killed run left is removed. */
const makeFolder = async (teardown: Teardown): Promise<string> => {
	const cache = path.join(packageRoot, '.cache');
	await mkdir(cache, {recursive: true});
	for (const name of await readdir(cache)) {
		const pid = Number(NAME.exec(name)?.[1]);
		if (pid > 0 && isGone(pid)) {
			await rm(path.join(cache, name), {recursive: true, force: true});
		}
	}

	const folder = await mkdtemp(path.join(cache, `tests-${process.pid}-`));
	teardown.add(() => rm(folder, {recursive: true, force: true, maxRetries: 5}));
	return folder;
};

const testFiles = async (): Promise<string[]> =>
	(await readdir(path.join(packageRoot, 'test'), {recursive: true}))
		.filter((name) => /\.tsx?$/.test(name) && !NO_TESTS.test(name))
		.map((name) => path.join('test', name))
		.sort();

/** A file or folder below `test/`; everything else is an option of ava. */
const isPath = (arg: string): boolean => path.normalize(arg).startsWith('test/');

/** The test files that are asked for, by name each alone, by folder in groups; all of them where none is. */
const groupsOf = async (args: string[]): Promise<Groups> => {
	const files = await testFiles();
	const paths = args.filter(isPath).map((arg) => path.join(arg, '.'));
	const below = (asked: string) => files.filter((file) => file === asked || file.startsWith(`${asked}/`));
	const missing = paths.find((asked) => below(asked).length === 0);
	if (missing !== undefined) {
		throw new Error(`${missing} is no file or folder of tests.`);
	}

	const named = new Set(files.filter((file) => paths.includes(file)));
	const inFolders = new Set(paths.length === 0 ? files : paths.flatMap(below));
	return new Map([...eachAlone([...named]), ...groupTests([...inFolders].filter((file) => !named.has(file)))]);
};

/** Where the compiled tests are, the compiled `bin/oplink.js`, and the compiled check-answers.ts. */
export type Compiled = {folder: string; binary: string; answerCheck: string};

/**
 * Bundles tests, sources and packages once for all processes of the run: each of them starts in
 * half the time that loading some thousand files takes. The folder belongs to this run alone, so that several can go on
 * at once.
 * @param args the run's own; files and folders among them are what is compiled, all tests where there are none.
 * @throws Error with the path that names no tests.
 */
export const compile = async (teardown: Teardown, args: string[]): Promise<Compiled> => {
	const folder = await makeFolder(teardown);
	const groups = await groupsOf(args);
	const bundling = build({
		...bundleOptions,
		// Each process reads all of its maps when it starts; what the lines were is in the files themselves.
		sourcesContent: false,
		external: [...bundleOptions.external, ...OUTSIDE],
		absWorkingDir: packageRoot,
		entryPoints: [
			...[...groups.keys()].map((name) => ({in: `group:${name}`, out: name})),
			...['test/embedded/_holder', 'test/setup/check-answers'].map((name) => ({in: `${name}.ts`, out: name})),
			...Object.entries(lateEntries).map(([name, file]) => ({in: file, out: `src/${name}`})),
		],
		outdir: folder,
		plugins: [groupPlugin(groups)],
	});
	await Promise.all([
		bundling,
		build({...mainOptions, absWorkingDir: packageRoot, outdir: path.join(folder, 'src')}),
		cp(path.join(packageRoot, 'bin'), path.join(folder, 'bin'), {recursive: true}),
		symlink('src', path.join(folder, 'dist')),
	]);
	return {
		folder,
		binary: path.join(folder, 'bin/oplink.js'),
		answerCheck: path.join(folder, 'test/setup/check-answers.js'),
	};
};

/** Ava's arguments: its options, and the files that were compiled. */
export const compiledArgs = (args: string[], {folder}: Compiled): string[] => [
	...args.filter((arg) => !isPath(arg)),
	path.join(path.relative(packageRoot, folder), 'test/**/*.js'),
];
