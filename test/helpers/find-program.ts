import {accessSync, constants} from 'node:fs';
import path from 'node:path';

const isThere = (file: string): boolean => {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
};

/** Where a program is: where Debian puts it, or in PATH; null if this machine has none. */
export const findProgram = (usual: string): string | null =>
	[usual, ...(process.env['PATH'] ?? '').split(':').map((folder) => path.join(folder, path.basename(usual)))].find(
		isThere,
	) ?? null;
