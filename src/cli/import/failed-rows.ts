import {type FileHandle, open} from 'node:fs/promises';
import {type ImportRow, plainLines} from './formats/import-row.ts';

/** The file of failed rows in their original text, to be fixed and imported again. */
export type FailedRows = {add: (row: ImportRow) => Promise<void>; close: () => Promise<void>};

/** Opens `file` with the first failed row, whose framing all rows share. Without failures no file is created. */
export const createFailedRows = (file: string): FailedRows => {
	let handle: FileHandle | null = null;
	let wrapping = plainLines;
	return {
		add: async (row) => {
			if (handle) {
				await handle.writeFile(wrapping.between + row.raw);
				return;
			}

			({wrapping} = row);
			handle = await open(file, 'w');
			await handle.writeFile(wrapping.open + row.raw);
		},
		close: async () => {
			await handle?.writeFile(wrapping.close);
			await handle?.close();
		},
	};
};
