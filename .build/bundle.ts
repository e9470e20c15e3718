import {rm} from 'node:fs/promises';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {build, context} from 'esbuild';
import {bundleOptions, lateEntries, mainOptions} from './bundle-options.ts';
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
/** `oplink/client`, in JavaScript with its types: what others import, and no part of the program. */
const client = path.join(root, 'dist', 'client');

if (values.watch) {
	for (const options of [main, modules]) {
		await (await context({...options, logLevel: 'info'})).watch();
	}
} else {
	await rm(path.join(root, 'dist'), {recursive: true, force: true});
	await Promise.all([compileClient(root, client), build(main), build(modules)]);
}
