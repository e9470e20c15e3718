import {readFileSync, rmSync} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';

/** In DATA_DIR, beside the generated admin token: where its server listens, for the CLI on this machine. */
export const ADDRESS_FILE = 'address';

/** The wildcard addresses of a machine, each with its loopback address. */
const LOOPBACKS = [
	['//0.0.0.0:', '//127.0.0.1:'],
	['//[::]:', '//[::1]:'],
] as const;

/** Removes what this process left, unless another server has left its own address there. */
const remove = (file: string, line: string): void => {
	try {
		if (readFileSync(file, 'utf8') === line) {
			rmSync(file);
		}
	} catch {
		// It is gone, or DATA_DIR is: nobody finds an address there.
	}
};

/** Leaves the URL of a listener in its DATA_DIR, until the process ends: also by a second signal. */
export const leaveAddress = async (dataDir: string, listener: string): Promise<void> => {
	const file = path.join(dataDir, ADDRESS_FILE);
	const line = `${LOOPBACKS.reduce((url, [all, one]) => url.replace(all, one), listener)}\n`;
	await mkdir(dataDir, {recursive: true});
	await writeFile(file, line);
	process.once('exit', () => remove(file, line));
};
