import {rm} from 'node:fs/promises';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {build, context} from 'esbuild';
import {bundleOptions} from './bundle-options.ts';

/**
 * Makes `dist/`: the program that `bin/oplink.js` starts, with its packages, in a few files. A start that looks for some
 * thousand of them takes three times as long. With `--watch` it is made again at each change, until Ctrl-C.
 */
const root = path.resolve(import.meta.dirname, '..');
const {values} = parseArgs({options: {watch: {type: 'boolean', default: false}}});
const options = {
	...bundleOptions,
	absWorkingDir: root,
	entryPoints: {'cli/main': 'src/cli/main.ts'},
	chunkNames: 'chunks/[name]-[hash]',
	outdir: 'dist',
};
if (values.watch) {
	await (await context({...options, logLevel: 'info'})).watch();
} else {
	await rm(path.join(root, 'dist'), {recursive: true, force: true});
	await build(options);
}
