import {chmod, lstat, readdir, readFile} from 'node:fs/promises';
import path from 'node:path';

/** Every path below a folder, folders before what is in them. */
export const walk = async (folder: string): Promise<string[]> => {
	const entries = (await readdir(folder, {withFileTypes: true})).sort((one, other) => (one.name < other.name ? -1 : 1));
	const inner = await Promise.all(
		entries.map(async (entry) => {
			const file = path.join(folder, entry.name);
			return entry.isDirectory() ? [file, ...(await walk(file))] : [file];
		}),
	);
	return inner.flat();
};

/** Gives folders and programs, which begin with `#!`, the mode 0755, other files 0644, whatever the umask of a clone was. */
export const settleModes = async (folder: string): Promise<void> => {
	for (const file of await walk(folder)) {
		const isOpen = (await lstat(file)).isDirectory() || (await readFile(file, 'latin1')).startsWith('#!');
		await chmod(file, isOpen ? 0o755 : 0o644);
	}
};
