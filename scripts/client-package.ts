import {execFile} from 'node:child_process';
import {copyFile, mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {build} from 'esbuild';
import {settleModes} from './file-tree.ts';

const run = promisify(execFile);

/** What an app imports as `oplink/NAME`, by the source in `src/client`. */
const entries = {
	client: 'oplink',
	'react-navigation': 'react-navigation',
	'expo-router': 'expo-router',
	expo: 'expo',
};

export const writeJson = (file: string, content: object): Promise<void> =>
	writeFile(file, `${JSON.stringify(content, null, '\t')}\n`);

/**
 * Copies the declarations that the entries name, directly or not. They name each other as sources; other resolvers than
 * ours know them as what is loaded.
 */
const copyTypes = async (from: string, to: string): Promise<void> => {
	// A set hands out what is added while it is gone through.
	const names = new Set(Object.values(entries));
	for (const name of names) {
		const text = await readFile(path.join(from, `${name}.d.ts`), 'utf8');
		for (const [, named = ''] of text.matchAll(/ from '\.\/([\w-]+)\.ts';/g)) {
			names.add(named);
		}

		await writeFile(path.join(to, `${name}.d.ts`), text.replaceAll(/( from '\.\/[\w-]+)\.ts';/g, "$1.js';"));
	}
};

/**
 * Makes the folder of the client: CommonJS, and modules in `esm`, each with types.
 * @throws with what the compiler says.
 */
export const buildClient = async (root: string, folder: string): Promise<void> => {
	const compiled = path.join(folder, 'compiled');
	const tsc = path.join(root, 'node_modules', '.bin', 'tsc');
	await run(tsc, ['-p', 'src/client', '--outDir', compiled], {cwd: root}).catch((error: {stdout?: string}) => {
		throw new Error(error.stdout || String(error));
	});
	for (const [name, format, type] of [
		['.', 'cjs', 'commonjs'],
		['esm', 'esm', 'module'],
	] as const) {
		const outdir = path.join(folder, name);
		await mkdir(outdir, {recursive: true});
		await copyTypes(compiled, outdir);
		await build({
			absWorkingDir: root,
			entryPoints: Object.values(entries).map((entry) => `src/client/${entry}.ts`),
			outdir,
			format,
			bundle: true,
			platform: 'neutral',
			// Bundlers and engines of apps are older than Node 20: no private fields, no static blocks.
			target: 'es2020',
			logLevel: 'warning',
		});
		await writeJson(path.join(outdir, 'package.json'), {type, sideEffects: false});
	}

	await copyFile(path.join(root, 'src', 'client', 'sdk-vectors.json'), path.join(folder, 'sdk-vectors.json'));
	await rm(compiled, {recursive: true});
};

/** Where Node and newer tools find the entries. @param folder that of the client, from the package's own. */
export const clientExports = (folder: string) => ({
	...Object.fromEntries(
		Object.entries(entries).map(([name, entry]) => [
			`./${name}`,
			{
				import: {types: `${folder}/esm/${entry}.d.ts`, default: `${folder}/esm/${entry}.js`},
				require: {types: `${folder}/${entry}.d.ts`, default: `${folder}/${entry}.js`},
			},
		]),
	),
	'./sdk-vectors.json': `${folder}/sdk-vectors.json`,
});

/**
 * Writes the package of the client alone into `folder`: an app that installs it gets none of the server. It has the
 * server's name, so that `oplink/client` is what is imported from either. Metro without `exports`, TypeScript's `node10`
 * and older bundlers find each entry by a folder of its name with a package.json.
 */
export const buildClientPackage = async (root: string, folder: string): Promise<void> => {
	await rm(folder, {recursive: true, force: true});
	await mkdir(folder, {recursive: true});
	await buildClient(root, path.join(folder, 'client'));
	for (const [name, entry] of Object.entries(entries)) {
		const manifest = {
			type: 'commonjs',
			main: `../client/${entry}.js`,
			module: `../client/esm/${entry}.js`,
			types: `../client/${entry}.d.ts`,
			sideEffects: false,
		};
		await mkdir(path.join(folder, name), {recursive: true});
		await writeJson(path.join(folder, name, 'package.json'), manifest);
	}

	const {version, license, engines} = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
	await writeJson(path.join(folder, 'package.json'), {
		name: 'oplink',
		version,
		description: 'The client of an Oplink server: deep links, deferred deep linking, sessions, events. No dependency.',
		license,
		engines,
		type: 'commonjs',
		sideEffects: false,
		exports: {...clientExports('./client'), './package.json': './package.json'},
		files: Object.keys(entries),
	});
	await copyFile(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
	await copyFile(path.join(root, 'src', 'client', 'README.md'), path.join(folder, 'README.md'));
};

/** Packs what stands in `folder`. @returns the path of the archive in `destination`. */
export const packFolder = async (folder: string, destination: string): Promise<string> => {
	await settleModes(folder);
	const {stdout} = await run('npm', ['pack', '--json', '--pack-destination', destination], {cwd: folder});
	const [{filename}] = JSON.parse(stdout) as [{filename: string}];
	return path.join(destination, filename);
};
