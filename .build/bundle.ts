import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {build, context} from 'esbuild';
import {bundleOptions, lateEntries, mainOptions, scriptOptions} from './bundle-options.ts';
import {compileClient} from './client-package.ts';

/**
 * Makes `dist/`: the program that `bin/oplink.js` starts, with its packages, in a few files. A start that looks for some
 * thousand of them takes three times as long. With `--watch` it is made again at each change, until Ctrl-C.
 */
const root = path.resolve(import.meta.dirname, '..');
const {values} = parseArgs({options: {watch: {type: 'boolean', default: false}}});
// Node 20 has none, and pg then asks for `Response`, which loads all of Node's fetch: 30 ms and 7 MB of a start.
const define = {navigator: '{"userAgent":"Node.js"}'};
const outputs = {absWorkingDir: root, outdir: 'dist'};
const main = {...mainOptions, ...outputs};
const modules = {
	...bundleOptions,
	...outputs,
	define,
	entryPoints: lateEntries,
	chunkNames: 'chunks/[name]-[hash]',
};
const server = path.join(root, 'dist', 'server.cjs');
/** `oplink/client`, in JavaScript with its types: what others import, and no part of the program. */
const client = path.join(root, 'dist', 'client');

/** The server once more, as one script that V8 compiles now and not at each start (`src/cli/server/load-server.ts`). */
const buildServer = async (): Promise<void> => {
	const {define: own, ...options} = scriptOptions('(function (exports, require, module, __filename, __dirname) {');
	const {outputFiles} = await build({
		...options,
		absWorkingDir: root,
		entryPoints: ['src/start/server-script.ts'],
		charset: 'ascii',
		// A quarter of the text, which is read at each start and stays in memory. What names anything is as it was written,
		// and so that a trace quotes no page of code, lines are.
		minifyWhitespace: true,
		lineLimit: 160,
		define: {...define, ...own},
		footer: {js: '})'},
		write: false,
	});
	const text = outputFiles.map((file) => file.text).join('');
	await writeFile(server, `/*${createHash('sha256').update(text).digest('hex')}*/${text}`);
	execFileSync(process.execPath, [path.join(import.meta.dirname, 'compile-server.js'), server], {stdio: 'inherit'});
};

if (values.watch) {
	// Modules alone, which `oplink serve` then takes instead of a script that is of before the change.
	await rm(server, {force: true});
	for (const options of [main, modules]) {
		await (await context({...options, logLevel: 'info'})).watch();
	}
} else {
	await rm(path.join(root, 'dist'), {recursive: true, force: true});
	await Promise.all([compileClient(root, client), build(main), build(modules)]);
	await buildServer();
}
