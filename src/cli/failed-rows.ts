import {type FileHandle, open} from 'node:fs/promises';
import type {ImportRow} from './import-formats/import-row.ts';
import type {ImportFormat} from './import-formats/read-rows.ts';

/** The file that failed rows are written to, as they were, so that it can be mended and imported again. */
export type FailedRows = {add: (row: ImportRow) => Promise<void>; close: () => Promise<void>};

/** Opens `file` with the first failed row: without one, no file comes to be. */
export const createFailedRows = (file: string, {failed}: ImportFormat): FailedRows => {
	let handle: FileHandle | null = null;
	return {
		add: async ({header, raw}) => {
			if (handle) {
				await handle.writeFile(failed.between + raw);
				return;
			}

			handle = await open(file, 'w');
			await handle.writeFile(failed.open(header) + raw);
		},
		close: async () => {
			await handle?.writeFile(failed.close);
			await handle?.close();
		},
	};
};
