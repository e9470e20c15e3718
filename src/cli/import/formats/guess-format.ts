import {parseJson} from '../../../http/untrusted-json.ts';
import {linkColumns} from '../../link-fields.ts';
import {firstCsvRecord} from './csv.ts';
import {isFirebaseHeading} from './firebase.ts';
import {isObject} from './import-row.ts';
import {createElementReader} from './json.ts';
import {isLineJson} from './ndjson.ts';
import type {ImportFormatName} from './read-rows.ts';

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
	return isFirebaseHeading(cells) ? 'firebase' : cells.some((cell) => linkColumns.has(cell.trim())) ? 'csv' : null;
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
	const found = /^\s*[[{]/.test(text) ? guessJson(text) : guessCsv(text);
	const isOwn = found === null || found === 'csv' || found === 'json' || found === 'ndjson';
	if (isOwn && named !== undefined) {
		return {name: named, by: 'ending'};
	}

	return found === null ? null : {name: found, by: 'content'};
};
