import {randomBytes} from 'node:crypto';
import {type FileHandle, open, readlink, realpath, rename, rm, stat} from 'node:fs/promises';
import path from 'node:path';
import {exitCodes, OperatorError} from './cli-errors.ts';

const codeOf = (error: unknown): unknown => (error as {code?: unknown}).code;

/** For a `catch`: null for a file that does not exist. @throws any other error. */
export const absentAsNull = (error: unknown): null => {
	if (codeOf(error) === 'ENOENT') {
		return null;
	}

	throw error;
};

/** The target of a dangling link; null for anything else. */
const danglingTarget = async (file: string): Promise<string | null> => {
	const link = await readlink(file).catch(absentAsNull);
	return link === null ? null : path.resolve(await realpath(path.dirname(file)), link);
};

/**
 * The file behind all links of a name, and its modification time; null if it does not exist yet.
 * @throws OperatorError for a device, a pipe or a folder, which cannot be replaced.
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
 * Writes a file. It is renamed into place when it is complete and on disk, so that an interruption leaves an older file
 * alone and no partial one. A link stays a link, and its target is written.
 * @returns the result of `write`. @param mode permissions, less those that the umask takes; by default only its owner may read it.
 * @throws OperatorError unless it is a regular file.
 */
export const replaceFile = async <Written>(
	name: string,
	write: (handle: FileHandle) => Promise<Written>,
	mode = 0o600,
): Promise<Written> => {
	const {file} = await fileBehind(name);
	const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);
	const handle = await open(unfinished, 'wx', mode).catch((error: unknown) => {
		throw Object.assign(error as Error, {path: file});
	});
	try {
		let written: Written;
		try {
			written = await write(handle);
			await handle.sync();
		} finally {
			await handle.close();
		}

		await rename(unfinished, file);
		return written;
	} catch (error) {
		await rm(unfinished, {force: true});
		throw error;
	}
};
