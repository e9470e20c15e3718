import {mkdtemp, readFile, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';

/** A separate XDG config folder, and the program's files in it. */
export const configFolder = async (t: ExecutionContext) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-config-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const file = path.join(folder, 'oplink', 'profiles.json');
	return {
		folder,
		file,
		env: {XDG_CONFIG_HOME: folder},
		saved: async () => JSON.parse(await readFile(file, 'utf8')),
		modes: async () => [(await stat(path.dirname(file))).mode % 0o1000, (await stat(file)).mode % 0o1000],
	};
};
