import {mkdir, readdir, rename, rm} from 'node:fs/promises';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {build, context} from 'esbuild';
import {writeApiPage} from './api-page.ts';
import {bundleOptions, lateEntries, mainOptions} from './bundle-options.ts';
import {buildClient} from './client-package.ts';

/**
 * Makes `dist/`: the program that `bin/oplink.js` starts, with its packages, in a few files. A start that looks for some
 * thousand of them takes three times as long. With `--watch` it is made again at each change, until Ctrl-C.
 */
const root = path.resolve(import.meta.dirname, '..');
const {values} = parseArgs({options: {watch: {type: 'boolean', default: false}}});
// Node 20 has none, and pg then asks for `Response`, which loads all of Node's fetch: 30 ms and 7 MB of a start.
const define = {navigator: '{"userAgent":"Node.js"}'};
/**
 * Beside `dist`, whose parts are replaced once all are made: npm makes them again at the first `npx oplink` in a clone, when
 * a server may be running, and the packed client is there as well.
 */
const next = values.watch ? 'dist' : 'dist.next';
const outputs = {absWorkingDir: root, outdir: next};
const main = {...mainOptions, ...outputs};
const modules = {
	...bundleOptions,
	...outputs,
	define,
	entryPoints: lateEntries,
	chunkNames: 'chunks/[name]-[hash]',
};
/** `oplink/client` and its adapters: what others import, and no part of the program. */
const client = path.join(root, next, 'client');
/** What `/docs` answers. */
const apiPage = path.join(root, next, 'docs');

if (values.watch) {
	await writeApiPage(apiPage);
	for (const options of [main, modules]) {
		await (await context({...options, logLevel: 'info'})).watch();
	}
} else {
	const [from, to] = [path.join(root, next), path.join(root, 'dist')];
	await rm(from, {recursive: true, force: true});
	try {
		await Promise.all([buildClient(root, client), build(main), build(modules), writeApiPage(apiPage)]);
		await mkdir(to, {recursive: true});
		for (const part of await readdir(from)) {
			await rm(path.join(to, part), {recursive: true, force: true});
			await rename(path.join(from, part), path.join(to, part));
		}
	} finally {
		await rm(from, {recursive: true, force: true});
	}
}
