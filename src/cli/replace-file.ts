import {randomBytes} from 'node:crypto';
import {type FileHandle, open, rename, rm} from 'node:fs/promises';
import path from 'node:path';

/**
 * Writes a file that only its owner may read. It gets its name when it is whole and on the disk: whatever ends the work
 * before leaves an older file alone, and no half one.
 */
export const replaceFile = async (file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> => {
	const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);
	const handle = await open(unfinished, 'wx', 0o600);
	try {
		try {
			await write(handle);
			await handle.sync();
		} finally {
			await handle.close();
		}

		await rename(unfinished, file);
	} catch (error) {
		await rm(unfinished, {force: true});
		throw error;
	}
};
