import {chmod, mkdtemp, readdir, rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {isRoot} from '../../src/embedded/identity.ts';
import type {Teardown} from './teardown.ts';

const NAME = /^oplink-run-(\d+)-/;

/** Whether no process has this number any more. */
export const isGone = (pid: number): boolean => {
	try {
		process.kill(pid, 0);
		return false;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'ESRCH';
	}
};

/**
 * A folder for what the run's servers write. Others may pass through it where we are root, as PostgreSQL runs as
 * another user then. What a killed run left is removed first.
 */
export const makeRunFolder = async (teardown: Teardown): Promise<string> => {
	const base = isRoot() ? '/tmp' : os.tmpdir();
	for (const name of await readdir(base)) {
		const pid = Number(NAME.exec(name)?.[1]);
		if (pid > 0 && isGone(pid)) {
			await rm(path.join(base, name), {recursive: true, force: true}).catch(() => {});
		}
	}

	const folder = await mkdtemp(path.join(base, `oplink-run-${process.pid}-`));
	teardown.add(() => rm(folder, {recursive: true, force: true, maxRetries: 5}));
	await chmod(folder, isRoot() ? 0o711 : 0o700);
	return folder;
};
