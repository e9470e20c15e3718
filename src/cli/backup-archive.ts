import {open} from 'node:fs/promises';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createGunzip} from 'node:zlib';
import {altered, MAX_LINE, notABackup, truncated} from '../operations/backup/archive-format.ts';
import {exitCodes, OperatorError} from './cli-errors.ts';
import {linesOf} from './lines.ts';
import type {Io} from './terminal/io.ts';

/** zlib's errors in terms of a backup. @param isBegun whether a part of it was read. */
const inTermsOfBackups = (error: unknown, isBegun: boolean): unknown => {
	const {code} = error as {code?: unknown};
	return code === 'Z_BUF_ERROR'
		? truncated()
		: code === 'Z_DATA_ERROR'
			? isBegun
				? altered('its compressed text')
				: notABackup()
			: error;
};

/**
 * The lines of a backup as it is stored.
 * @param read counts the bytes. @throws BackupError, and the source's errors.
 */
export async function* archiveLines(
	chunks: AsyncIterable<Uint8Array>,
	signal: AbortSignal,
	read = {bytes: 0},
): AsyncGenerator<string> {
	const unzipped = createGunzip();
	const counted = async function* () {
		for await (const chunk of chunks) {
			read.bytes += chunk.length;
			yield chunk;
		}
	};
	const feeding = pipeline(counted, unzipped, {signal});
	// The lines end with its error.
	feeding.catch(() => {});
	let isBegun = false;
	try {
		for await (const line of linesOf(unzipped, {characters: MAX_LINE, fault: (number) => altered(`line ${number}`)})) {
			isBegun = true;
			yield line;
		}

		await feeding;
	} catch (error) {
		throw inTermsOfBackups(error, isBegun);
	} finally {
		unzipped.destroy();
	}

	if (unzipped.bytesWritten < read.bytes) {
		throw altered('what follows its end');
	}
}

/** Opens the backup that an operator names, - for standard input. @throws OperatorError, or the system's error. */
export const openBackup = async (
	{stdin, cwd}: Io,
	file: string,
): Promise<{chunks: AsyncIterable<Uint8Array>; close(): Promise<void>}> => {
	if (file === '-') {
		return {chunks: stdin as Readable, close: async () => {}};
	}

	const name = path.resolve(cwd, file);
	const handle = await open(name);
	// Reading it would fail as well, but after a database was opened or made.
	if ((await handle.stat()).isDirectory()) {
		await handle.close();
		throw new OperatorError(`${name} is a folder, not a file`, exitCodes.failed, 'Correct FILE');
	}

	return {chunks: handle.createReadStream({autoClose: false}), close: () => handle.close()};
};
