import {readdir, readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import {buffer} from 'node:stream/consumers';
import {usageError} from '../cli-errors.ts';
import type {Io} from '../terminal/io.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Beyond a limit of `apply`. */
export const tooMany = (limit: string) =>
	usageError(`apply takes at most ${limit}`, 'oplink links import FILE creates any number of links');

/** The files below a folder that may have documents. */
const filesBelow = async (cwd: string, folder: string): Promise<string[]> => {
	const entries = await readdir(path.resolve(cwd, folder), {withFileTypes: true});
	const found = entries
		.filter(({name}) => !name.startsWith('.') && name !== 'node_modules')
		.map((entry) => {
			const file = path.join(folder, entry.name);
			return entry.isDirectory() ? filesBelow(cwd, file) : /\.(?:ya?ml|json)$/.test(file) ? [file] : [];
		});
	return (await Promise.all(found)).flat();
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
