import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {configTable} from '../src/platform/config/variables.ts';
import {packageRoot} from '../src/platform/package-root.ts';

export const read = (name: string): string => readFileSync(path.join(packageRoot, name), 'utf8');

const {loadAll} = createRequire(import.meta.url)('js-yaml') as {loadAll(text: string): unknown[]};

// biome-ignore lint/suspicious/noExplicitAny: tests assert the shape that they name
export type Parsed = any;

export const parseYaml = (text: string): Parsed[] => loadAll(text);

export const isThere = (name: string): boolean => existsSync(path.join(packageRoot, name));

/** The files of a folder and of those in it, as paths below the package's root. */
export const below = (folder: string): string[] =>
	readdirSync(path.join(packageRoot, folder), {recursive: true, encoding: 'utf8'}).map((name) =>
		path.join(folder, name),
	);

/** What the first group of a pattern has found, each time. */
export const found = (text: string, pattern: RegExp): string[] =>
	[...text.matchAll(pattern)].map(([, group = '']) => group);

const known = new Set(configTable.flatMap(({name, isSecret}) => (isSecret ? [name, `${name}_FILE`] : [name])));

/** Which of these names are no variables of the server. */
export const unread = (names: string[]): string[] => names.filter((name) => !known.has(name));
