import {access, chmod, constants, mkdtemp, readdir, rm, statfs} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {isRoot} from '../../src/platform/embedded/location.ts';
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

/** Linux's folder in memory. A database is a copy of over 500 files, which takes a twentieth of a disk's time there. */
const MEMORY = '/dev/shm';

/** Several times the observed use of a run. */
const ROOM_BYTES = 2e9;

/** Whether the folder in memory exists, is writable and large enough; in a container it often has 64 MB. */
const hasMemory = async (): Promise<boolean> => {
	try {
		await access(MEMORY, constants.W_OK | constants.X_OK);
		const {bavail, bsize} = await statfs(MEMORY);
		return bavail * bsize >= ROOM_BYTES;
	} catch {
		return false;
	}
};

/**
 * A folder for the servers' files, removed after the run. Under root others may traverse it, because PostgreSQL runs as
 * another user. The rest of a killed run is removed first.
 * @param inMemory uses memory if there is room: for tests, not for measurements.
 */
export const makeRunFolder = async (teardown: Teardown, {inMemory = false} = {}): Promise<string> => {
	const base = inMemory && (await hasMemory()) ? MEMORY : isRoot() ? '/tmp' : os.tmpdir();
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
