import {cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import {build, type Plugin} from 'esbuild';
import {writeApiPage} from '../../scripts/api-page.ts';
import {bundleOptions, lateEntries, mainOptions} from '../../scripts/bundle-options.ts';
import {packageRoot} from '../../src/platform/package-root.ts';
import {isGone} from './run-folder.ts';
import type {Teardown} from './teardown.ts';

const NAME = /^tests-(\d+)-/;

/** Packages that look for files of their own; few tests load any of them. */
const OUTSIDE = [
	'@duckdb/node-api',
	'@ts-morph/common',
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

const avaFolder = path.join(createRequire(import.meta.url).resolve('ava'), '../../lib/');

const entryOf = (file: string) => ({in: file, out: file.replace(/\.tsx?$/, '')});

/** Says of a package's file that all of it is its first line. */
const COARSE_MAP = Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64');

/**
 * Each process reads all of its maps when it starts, most of which would be of packages. AVA's stay: by them it omits its
 * own lines from what it reports.
 */
const coarselyMappedPackages: Plugin = {
	name: 'coarsely-mapped-packages',
	setup: ({onLoad}) => {
		onLoad({filter: /[\\/]node_modules[\\/].*\.[cm]?js$/}, async ({path: file}) =>
			file.startsWith(avaFolder)
				? undefined
				: {
						contents: `${await readFile(file, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${COARSE_MAP}`,
						loader: 'js',
					},
		);
	},
};

/** AVA's provider of TypeScript, which would bring all that finds files; no test process uses it. */
const noTypescriptProvider: Plugin = {
	name: 'no-typescript-provider',
	setup: ({onLoad}) => {
		onLoad({filter: /[\\/]ava[\\/]lib[\\/]provider-manager\.js$/}, () => ({
			contents: 'export default {};',
			loader: 'js',
		}));
	},
};

const bundle = (outdir: string, entryPoints: Array<{in: string; out: string}>) =>
	build({
		...bundleOptions,
		// The lines themselves are in the sources.
		sourcesContent: false,
		external: [...bundleOptions.external, ...OUTSIDE],
		plugins: [...bundleOptions.plugins, noTypescriptProvider, coarselyMappedPackages],
		absWorkingDir: packageRoot,
		entryPoints,
		outdir,
	});

/** Services find it in the package, wherever they were compiled to. */
const apiPage = path.join(packageRoot, 'dist/docs');

/** The program, and the programs that tests start as separate processes. */
const programEntries = [
	...['test/platform/embedded/_holder.ts', 'test/platform/embedded/_stranger.ts'].map(entryOf),
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
	await Promise.all([bundle(folder, programEntries), ...layOut(folder), writeApiPage(apiPage)]);
	return folder;
};

/** A process's program: files of tests. AVA asks for all of them before anything else happens, so nothing is imported later. */
const textOf = (files: string[]): string => {
	const [atOnce, ...tests] = ['test/setup/at-once.ts', ...files].map((file) =>
		JSON.stringify(path.join(packageRoot, file)),
	);
	return [
		`import {limitTestsAtOnce} from ${atOnce};`,
		...tests.map((file) => `import ${file};`),
		'limitTestsAtOnce();',
	].join('\n');
};

/**
 * Bundles the test files of these processes and the sources once for all processes of a run, with AVA's part of these
 * processes (`ava-cli.js`), each of which starts in less than half the time then.
 * @returns the folder of the compiled files: `test/NAME.js` of each process, `test/setup/check-answers.js` and `ava-worker.js`.
 */
export const compileTests = async (
	teardown: Teardown,
	processes: Array<[name: string, files: string[]]>,
): Promise<string> => {
	const folder = await makeFolder(teardown);
	const entries = processes.map(async ([name, files]) => {
		const entry = path.join(folder, 'entries', `${name}.ts`);
		await mkdir(path.dirname(entry), {recursive: true});
		await writeFile(entry, textOf(files));
		return {in: entry, out: name};
	});
	await Promise.all([
		bundle(folder, [
			...(await Promise.all(entries)),
			entryOf('test/setup/check-answers.ts'),
			{in: path.join(avaFolder, 'worker/base.js'), out: 'ava-worker'},
		]),
		writeApiPage(apiPage),
	]);
	return folder;
};
