import {readFile} from 'node:fs/promises';
import path from 'node:path';
import type {ImportRow} from '../../../src/cli/import/formats/import-row.ts';
import {type ImportFormatName, importFormats} from '../../../src/cli/import/formats/read-rows.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {collect, inPieces} from '../_pieces.ts';

/** The text of an excerpt of the files that other services give. */
export const excerpt = (name: string): Promise<string> =>
	readFile(path.join(packageRoot, 'test/fixtures/import', name), 'utf8');

/** The rows of a text, which is read in pieces that cut characters and quotes in two. */
export const rowsOf = (format: ImportFormatName, text: string): Promise<ImportRow[]> =>
	collect(importFormats[format].rows(inPieces(text, 7), text));
