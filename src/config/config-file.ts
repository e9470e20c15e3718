import {readFileSync} from 'node:fs';
import path from 'node:path';
import {packageRoot} from '../package-root.ts';

/** The contents of a JSON file of `config/`. */
export const readConfigFile = <T = unknown>(file: string): T =>
	JSON.parse(readFileSync(path.join(packageRoot, 'config', file), 'utf8')) as T;
