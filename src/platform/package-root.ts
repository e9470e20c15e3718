import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const manifest = createRequire(import.meta.url).resolve('oplink/package.json');

/** The folder of the installed package: it contains `config/` and `migrations/`, beside `dist/` or `src/`. */
export const packageRoot = path.dirname(manifest);

/** The contents of a JSON file of `config/`. */
export const readConfigFile = <T = unknown>(file: string): T =>
	JSON.parse(readFileSync(path.join(packageRoot, 'config', file), 'utf8')) as T;

/** The package's version, from its manifest. */
export const packageVersion = (): string => (JSON.parse(readFileSync(manifest, 'utf8')) as {version: string}).version;
