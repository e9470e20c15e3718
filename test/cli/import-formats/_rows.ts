import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import type {ImportRow} from '../../../src/cli/import/formats/import-row.ts';
import {type ImportFormatName, importFormats} from '../../../src/cli/import/formats/read-rows.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';

/** The text of an excerpt of the files that other services give. */
export const excerpt = (name: string): Promise<string> =>
	readFile(path.join(packageRoot, 'test/fixtures/import', name), 'utf8');

/** The rows of a text, which is read in pieces that cut characters and quotes in two. */
export const rowsOf = async (format: ImportFormatName, text: string, size = 7): Promise<ImportRow[]> => {
	const bytes = Buffer.from(text);
	const pieces = Array.from({length: Math.ceil(bytes.length / size)}, (_, index) =>
		bytes.subarray(index * size, (index + 1) * size),
	);
	const rows: ImportRow[] = [];
	for await (const row of importFormats[format].rows(Readable.from(pieces), text)) {
		rows.push(row);
	}

	return rows;
};

/** The positions of rows, and the reasons of rejections. */
export const refusalsOf = (rows: ImportRow[]): Array<[number, string]> =>
	rows.flatMap(({line, error}) => (error === undefined ? [] : [[line, error] as [number, string]]));
