import {randomBytes} from 'node:crypto';
import {type FileHandle, open, readlink, realpath, rename, rm, stat} from 'node:fs/promises';
import path from 'node:path';
import {OperatorError} from './cli-errors.ts';
import {exitCodes} from './exit-codes.ts';

const codeOf = (error: unknown): unknown => (error as {code?: unknown}).code;

const absentAsNull = (error: unknown): null => {
	if (codeOf(error) === 'ENOENT') {
		return null;
	}

	throw error;
};

/** Where a link leads that leads to nothing yet; null for what is no link. */
const danglingTarget = async (file: string): Promise<string | null> => {
	const link = await readlink(file).catch(absentAsNull);
	return link === null ? null : path.resolve(await realpath(path.dirname(file)), link);
};

/**
 * The file that a name stands for, behind all links, and since when it is as it is; null for one that is not there yet.
 * @throws OperatorError for a device, a pipe or a folder, which no file may take the place of.
 */
export const fileBehind = async (name: string): Promise<{file: string; changedAt: Date | null}> => {
	const found = await stat(name).catch(absentAsNull);
	if (found === null) {
		const target = await danglingTarget(name);
		return target === null ? {file: name, changedAt: null} : fileBehind(target);
	}

	if (!found.isFile()) {
		throw new OperatorError(
			`${name} is not a regular file`,
			exitCodes.failed,
			'Name a file, or write to standard output with - and redirect it there',
		);
	}

	return {file: await realpath(name), changedAt: found.mtime};
};

/**
 * Writes a file that only its owner may read. It gets its name when it is whole and on the disk: whatever ends the work
 * before leaves an older file alone, and no half one. A link stays one, and what it leads to is written.
 * @throws OperatorError for what is no regular file.
 */
export const replaceFile = async (name: string, write: (handle: FileHandle) => Promise<void>): Promise<void> => {
	const {file} = await fileBehind(name);
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
