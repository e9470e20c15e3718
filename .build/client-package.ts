import {execFile} from 'node:child_process';
import {copyFile, mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {build} from 'esbuild';

const run = promisify(execFile);

/** Compiles `oplink/client` with its types into `outdir`. @throws with what the compiler says. */
export const compileClient = async (root: string, outdir: string): Promise<void> => {
	const tsc = path.join(root, 'node_modules', '.bin', 'tsc');
	await run(tsc, ['-p', 'src/client', '--outDir', outdir], {cwd: root}).catch((error: {stdout?: string}) => {
		throw new Error(error.stdout || String(error));
	});
};

/**
 * What finds `oplink/client`: Node and newer tools by `exports`; Metro without it, TypeScript's `node10` and older bundlers
 * by the folder `client` and its own package.json.
 */
const manifests = ({version, license}: {version: string; license: string}) => ({
	'package.json': {
		name: 'oplink',
		version,
		description: 'The client of an Oplink server: deep links, deferred deep linking, sessions, events. No dependency.',
		license,
		type: 'commonjs',
		sideEffects: false,
		exports: {
			'./client': {
				import: {types: './client/esm/oplink.d.ts', default: './client/esm/oplink.js'},
				require: {types: './client/oplink.d.ts', default: './client/oplink.js'},
			},
			'./package.json': './package.json',
		},
		files: ['client'],
	},
	'client/package.json': {
		type: 'commonjs',
		main: './oplink.js',
		module: './esm/oplink.js',
		types: './oplink.d.ts',
		sideEffects: false,
	},
	'client/esm/package.json': {type: 'module'},
});

/** Declarations name each other as sources; other resolvers than ours know them as what is loaded. */
const copyTypes = async (from: string, to: string): Promise<void> => {
	for (const name of (await readdir(from)).filter((one) => one.endsWith('.d.ts'))) {
		const text = await readFile(path.join(from, name), 'utf8');
		await writeFile(path.join(to, name), text.replaceAll(/( from '\.\/[\w-]+)\.ts';/g, "$1.js';"));
	}
};

/**
 * Writes the package of the client alone into `folder`: an app that installs it gets none of the server. It has the
 * server's name, so that `oplink/client` is what is imported from either.
 */
export const buildClientPackage = async (root: string, folder: string): Promise<void> => {
	const modules = path.join(folder, 'client', 'esm');
	const scripts = path.join(folder, 'client');
	const compiled = path.join(folder, 'compiled');
	await rm(folder, {recursive: true, force: true});
	await mkdir(modules, {recursive: true});
	await compileClient(root, compiled);
	for (const [outdir, format] of [
		[scripts, 'cjs'],
		[modules, 'esm'],
	] as const) {
		await copyTypes(compiled, outdir);
		await build({
			absWorkingDir: root,
			entryPoints: ['src/client/oplink.ts'],
			outdir,
			format,
			bundle: true,
			platform: 'neutral',
			// Bundlers and engines of apps are older than Node 20: no private fields, no static blocks.
			target: 'es2020',
			logLevel: 'warning',
		});
	}

	await rm(compiled, {recursive: true});
	const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
	for (const [name, content] of Object.entries(manifests(manifest))) {
		await writeFile(path.join(folder, name), `${JSON.stringify(content, null, '\t')}\n`);
	}

	await copyFile(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
	await copyFile(path.join(root, 'src', 'client', 'README.md'), path.join(folder, 'README.md'));
};

/** Packs what stands in `folder`. @returns the path of the archive in `destination`. */
export const packClient = async (folder: string, destination: string): Promise<string> => {
	const {stdout} = await run('npm', ['pack', '--json', '--pack-destination', destination], {cwd: folder});
	const [{filename}] = JSON.parse(stdout) as [{filename: string}];
	return path.join(destination, filename);
};
