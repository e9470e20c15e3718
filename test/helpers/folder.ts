import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';

/** A folder that is removed after the test. */
export const folderOf = async (t: Pick<ExecutionContext, 'teardown'>): Promise<string> => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-'));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	return folder;
};
