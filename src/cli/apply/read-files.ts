import {readdir, readFile, realpath, stat} from 'node:fs/promises';
import path from 'node:path';
import {buffer} from 'node:stream/consumers';
import {usageError} from '../cli-errors.ts';
import type {Io} from '../terminal/io.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Beyond a limit of `apply`. */
export const tooMany = (limit: string) =>
	usageError(`apply takes at most ${limit}`, 'oplink links import FILE creates any number of links');

/**
 * The files below a folder that may have documents. Symbolic links are followed; a folder is read once.
 * @param read the real paths of folders.
 */
const filesBelow = async (cwd: string, folder: string, read = new Set<string>()): Promise<string[]> => {
	const real = await realpath(path.resolve(cwd, folder));
	const names = read.has(real) ? [] : (await readdir(real)).sort();
	read.add(real);
	const found: string[] = [];
	for (const name of names.filter((one) => !one.startsWith('.') && one !== 'node_modules')) {
		const file = path.join(folder, name);
		const isFolder = (await stat(path.join(real, name)).catch(() => null))?.isDirectory() === true;
		found.push(...(isFolder ? await filesBelow(cwd, file, read) : /\.(?:ya?ml|json)$/.test(name) ? [file] : []));
	}

	return found;
};

/**
 * Reads files, those of folders in the order of their paths, and `-`, standard input.
 * @throws OperatorError for a folder without any, and for too many bytes.
 */
export async function* readFiles({cwd, stdin}: Io, names: readonly string[]): AsyncGenerator<[file: string, Buffer]> {
	let size = 0;
	for (const name of new Set(names)) {
		const isFolder = name !== '-' && (await stat(path.resolve(cwd, name))).isDirectory();
		const files = isFolder ? (await filesBelow(cwd, name)).sort() : [name];
		if (files.length === 0) {
			throw usageError(`${name} has no .yaml, .yml or .json file`, 'Name files, or a folder with some');
		}

		for (const file of files) {
			const bytes = await (file === '-' ? buffer(stdin) : readFile(path.resolve(cwd, file)));
			size += bytes.length;
			if (size > MAX_BYTES) {
				throw tooMany('64 MB');
			}

			yield [file, bytes];
		}
	}
}
