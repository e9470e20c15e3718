import {parseJson} from '../../../platform/http/untrusted-json.ts';
import {csvColumns} from '../../link-fields.ts';
import {bitlyColumns, bitlyLink, bitlyNames} from './bitly.ts';
import {branchLink, branchNames} from './branch.ts';
import {csvRows} from './csv.ts';
import {firstCsvRecord} from './csv-records.ts';
import {type DashboardColumns, dashboardRows, hasColumns} from './dashboard-csv.ts';
import {dubColumns, dubLink, dubNames} from './dub.ts';
import {firebaseNames, firebaseRows, isFirebaseHeading} from './firebase.ts';
import {type LinkMapper, mappedRows} from './foreign-fields.ts';
import {type ImportRow, isObject} from './import-row.ts';
import {createElementReader, isLineJson, jsonRows, ndjsonRows} from './json.ts';
import type {Source} from './lines.ts';

export type ImportFormat = {
	/** `head` is the known start of the file. */
	rows: (source: Source, head?: string) => AsyncIterable<ImportRow>;
	/** The source of each link field, for messages; null for our own formats. */
	names: Record<string, string> | null;
};

const isJson = (head: string): boolean => /^\uFEFF?\s*[[{]/.test(head);

/** A service's objects as JSON, or the CSV that its dashboard exports. */
const foreign = (
	mapper: LinkMapper<Record<string, unknown>>,
	names: Record<string, string>,
	columns?: DashboardColumns,
): ImportFormat => ({
	rows: (source, head = '') =>
		columns === undefined || isJson(head)
			? mappedRows(isLineJson(head) ? ndjsonRows(source) : jsonRows(source), mapper)
			: dashboardRows(source, head, columns, mapper),
	names,
});

export const importFormats = {
	csv: {rows: csvRows, names: null},
	json: {rows: jsonRows, names: null},
	ndjson: {rows: ndjsonRows, names: null},
	firebase: {rows: firebaseRows, names: firebaseNames},
	branch: foreign(branchLink, branchNames),
	bitly: foreign(bitlyLink, bitlyNames, bitlyColumns),
	dub: foreign(dubLink, dubNames, dubColumns),
} as const satisfies Record<string, ImportFormat>;

export type ImportFormatName = keyof typeof importFormats;
export const importFormatNames = Object.keys(importFormats) as ImportFormatName[];

/** A format and the evidence for it. */
export type Guess = {name: ImportFormatName; by: 'content' | 'ending'};

/** The first element of JSON, or an empty one if the head is too short. */
const firstElement = (head: string): Record<string, unknown> => {
	const [element] = createElementReader().push(Buffer.from(head)).elements;
	const value = parseJson(element?.text ?? '');
	return isObject(value) ? value : {};
};

const guessJson = (head: string): ImportFormatName => {
	const element = firstElement(head);
	const has = (...names: string[]) => names.every((name) => Object.hasOwn(element, name));
	if (has('long_url')) {
		return 'bitly';
	}

	if (has('url', 'key') || has('shortLink', 'key')) {
		return 'dub';
	}

	const isBranch = has('data') && !has('path') && (has('url') || has('feature') || has('campaign') || has('channel'));
	return isBranch ? 'branch' : isLineJson(head) ? 'ndjson' : 'json';
};

const guessCsv = (head: string): ImportFormatName | null => {
	const cells = firstCsvRecord(head);
	if (isFirebaseHeading(cells)) {
		return 'firebase';
	}

	if (hasColumns(cells, 'short link', 'destination url')) {
		return 'dub';
	}

	if (hasColumns(cells, 'link', 'destination url') || hasColumns(cells, 'link', 'long url')) {
		return 'bitly';
	}

	return cells.some((cell) => csvColumns.has(cell.trim())) ? 'csv' : null;
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
