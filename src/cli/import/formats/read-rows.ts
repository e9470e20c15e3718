import {isObject} from '../../../links/links/import/canonical-json.ts';
import {parseJson} from '../../../platform/http/untrusted-json.ts';
import type {Source} from '../../lines.ts';
import {csvColumns} from '../../link-fields.ts';
import {csvRows} from './csv.ts';
import {firstCsvRecord} from './csv-records.ts';
import {firebase, firebaseRows, isFirebaseHeading} from './firebase.ts';
import type {ImportRow} from './import-row.ts';
import {ElementReader, isLineJson, jsonRows, ndjsonRows} from './json.ts';
import {type DashboardColumns, dashboardRows, hasColumns, type Mapping, namesOf, objectRows} from './mapping.ts';
import {bitly, bitlyColumns, branch, dub, dubColumns} from './services.ts';

export type ImportFormat = {
	/** `head` is the known start of the file. */
	rows: (source: Source, head?: string) => AsyncIterable<ImportRow>;
	/** The source of each link field, for messages; null for our own formats. */
	names: Record<string, string> | null;
};

const isJson = (head: string): boolean => /^\uFEFF?\s*[[{]/.test(head);

/** A service's objects as JSON, or the CSV that its dashboard exports. */
const foreign = (mapping: Mapping, columns?: DashboardColumns): ImportFormat => ({
	rows: (source, head = '') =>
		columns === undefined || isJson(head)
			? objectRows(source, head, mapping)
			: dashboardRows(source, head, columns, mapping),
	names: namesOf(mapping),
});

export const importFormats = {
	csv: {rows: csvRows, names: null},
	json: {rows: jsonRows, names: null},
	ndjson: {rows: ndjsonRows, names: null},
	firebase: {rows: firebaseRows, names: namesOf(firebase)},
	branch: foreign(branch),
	bitly: foreign(bitly, bitlyColumns),
	dub: foreign(dub, dubColumns),
} as const satisfies Record<string, ImportFormat>;

export type ImportFormatName = keyof typeof importFormats;
export const importFormatNames = Object.keys(importFormats) as ImportFormatName[];

/** A format and the evidence for it. */
export type Guess = {name: ImportFormatName; by: 'content' | 'ending'};

/** The first element of JSON, or an empty one if the head is too short. */
const firstElement = (head: string): Record<string, unknown> => {
	const [element] = new ElementReader().push(Buffer.from(head)).elements;
	const value = parseJson(element?.text ?? '');
	return isObject(value) ? value : {};
};

const guessJson = (head: string): ImportFormatName => {
	const element = firstElement(head);
	const has = (...names: string[]) => names.every((name) => Object.hasOwn(element, name));
	const isBranch = has('data') && !has('path') && ['url', 'feature', 'campaign', 'channel'].some((name) => has(name));
	const own = isLineJson(head) ? 'ndjson' : 'json';
	return has('long_url') ? 'bitly' : has('url', 'key') || has('shortLink', 'key') ? 'dub' : isBranch ? 'branch' : own;
};

const guessCsv = (head: string): ImportFormatName | null => {
	const cells = firstCsvRecord(head);
	const has = (...names: string[]) => hasColumns(cells, ...names);
	const isOwn = cells.some((cell) => csvColumns.has(cell.trim()));
	const isBitly = has('link', 'destination url') || has('link', 'long url');
	const other = has('short link', 'destination url') ? 'dub' : isBitly ? 'bitly' : isOwn ? 'csv' : null;
	return isFirebaseHeading(cells) ? 'firebase' : other;
};

const byEnding: Record<string, ImportFormatName> = {csv: 'csv', json: 'json', ndjson: 'ndjson', jsonl: 'ndjson'};

/**
 * Detects the format by the start of the text and the extension, ignoring that of failed rows (`links.csv.failed`). The
 * extension decides between our own formats. Null if undetected.
 */
export const guessFormat = (file: string, head: string): Guess | null => {
	const ending = /\.([^.]+)$/.exec(file.replace(/(?<!\.failed)(?:\.failed)+$/, ''))?.[1]?.toLowerCase() ?? '';
	const named = byEnding[ending];
	const text = head.replace(/^\uFEFF/, '');
	const found = isJson(text) ? guessJson(text) : guessCsv(text);
	const isOwn = found === null || found === 'csv' || found === 'json' || found === 'ndjson';
	if (isOwn && named !== undefined) {
		return {name: named, by: 'ending'};
	}

	return found === null ? null : {name: found, by: 'content'};
};
