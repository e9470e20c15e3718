import {readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {folderOf} from '../helpers/folder.ts';

/** A separate XDG config folder, and the program's files in it. */
export const configFolder = async (t: ExecutionContext) => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'oplink', 'profiles.json');
	return {
		folder,
		file,
		env: {XDG_CONFIG_HOME: folder},
		saved: async () => JSON.parse(await readFile(file, 'utf8')),
		modes: async () => [(await stat(path.dirname(file))).mode % 0o1000, (await stat(file)).mode % 0o1000],
	};
};
