import {cp, mkdir, mkdtemp, readdir, rm, symlink} from 'node:fs/promises';
import path from 'node:path';
import {build} from 'esbuild';
import {bundleOptions, lateEntries, mainOptions} from '../../.build/bundle-options.ts';
import {packageRoot} from '../../src/package-root.ts';
import {isGone} from './run-folder.ts';
import type {Teardown} from './teardown.ts';

const NAME = /^tests-(\d+)-/;
const NO_TESTS = /(^|\/)_|^(setup|helpers|fakes|fixtures)\//;

/** Packages that look for files of their own, or that hold the tests themselves; few tests load any of them but AVA. */
const OUTSIDE = [
	'@ts-morph/common',
	'ava',
	'esbuild',
	'fast-check',
	'ink-testing-library',
	'playwright-core',
	'typescript',
];

/** A folder of this run in the package, where its files find their packages; what a killed run left is removed. */
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

const entryOf = (file: string) => ({in: file, out: file.replace(/\.tsx?$/, '')});

const bundle = (outdir: string, entryPoints: Array<{in: string; out: string}>) =>
	build({
		...bundleOptions,
		// Each process reads all of its maps when it starts; the lines themselves are in the sources.
		sourcesContent: false,
		external: [...bundleOptions.external, ...OUTSIDE],
		absWorkingDir: packageRoot,
		entryPoints,
		outdir,
	});

/** The program, and the programs that tests start as separate processes. */
const programEntries = [
	...['test/embedded/_holder.ts', 'test/embedded/_stranger.ts'].map(entryOf),
	...Object.entries(lateEntries).map(([name, file]) => ({in: file, out: `src/${name}`})),
];

/** Lays the program out as the package has it: `bin/` beside `dist/`. */
const layOut = (folder: string) => [
	build({...mainOptions, absWorkingDir: packageRoot, outdir: path.join(folder, 'src')}),
	cp(path.join(packageRoot, 'bin'), path.join(folder, 'bin'), {recursive: true}),
	symlink('src', path.join(folder, 'dist')),
];

/** Compiles the program from the sources as they are now. @returns a folder with its `bin/oplink.js`. */
export const compileProgram = async (teardown: Teardown): Promise<string> => {
	const folder = await makeFolder(teardown);
	await Promise.all([bundle(folder, programEntries), ...layOut(folder)]);
	return folder;
};

/**
 * Bundles all test files and sources once for all processes of a run, each of which starts in half the time then.
 * @returns the folder of the compiled files, `test/…` and `setup/check-answers.js` among them.
 */
export const compileTests = async (teardown: Teardown): Promise<string> => {
	const folder = await makeFolder(teardown);
	await bundle(folder, [...(await testFiles()), 'test/setup/check-answers.ts'].map(entryOf));
	return folder;
};
