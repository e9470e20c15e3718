import {bitlyLink, bitlyNames} from './bitly.ts';
import {branchLink, branchNames} from './branch.ts';
import {csvRows} from './csv.ts';
import {dubLink, dubNames} from './dub.ts';
import {firebaseNames, firebaseRows} from './firebase.ts';
import {type LinkMapper, mappedRows} from './foreign-fields.ts';
import type {ImportRow} from './import-row.ts';
import {jsonRows} from './json.ts';
import type {Source} from './lines.ts';
import {isLineJson, ndjsonRows} from './ndjson.ts';

export type ImportFormat = {
	/** `head` is the known start of the file. */
	rows: (source: Source, head?: string) => AsyncIterable<ImportRow>;
	/** The source of each link field, for messages; null for our own formats. */
	names: Record<string, string> | null;
};

const foreignJson = (mapper: LinkMapper<Record<string, unknown>>, names: Record<string, string>): ImportFormat => ({
	rows: (source, head = '') => mappedRows(isLineJson(head) ? ndjsonRows(source) : jsonRows(source), mapper),
	names,
});

export const importFormats = {
	csv: {rows: csvRows, names: null},
	json: {rows: jsonRows, names: null},
	ndjson: {rows: ndjsonRows, names: null},
	firebase: {rows: firebaseRows, names: firebaseNames},
	branch: foreignJson(branchLink, branchNames),
	bitly: foreignJson(bitlyLink, bitlyNames),
	dub: foreignJson(dubLink, dubNames),
} as const satisfies Record<string, ImportFormat>;

export type ImportFormatName = keyof typeof importFormats;
export const importFormatNames = Object.keys(importFormats) as ImportFormatName[];
