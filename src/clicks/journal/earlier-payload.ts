import {readCopyText} from '../../db/copy-in.ts';
import {contextIdOf, contextRow} from '../click-context.ts';
import {type Entry, withMatches} from './entry.ts';
import {type Section, sectionOf} from './section.ts';

/** How a payload begins since clicks have contexts. */
const BEGINNING = '{"contexts":';

/** Payloads that an earlier version left behind begin with another summary, or with a click of a person or of a crawler. */
export const isEarlier = (payload: Buffer): boolean => payload.toString('latin1', 0, BEGINNING.length) !== BEGINNING;

/** Hashes were 32 bytes long, of which the tables keep 16. */
const shortened = (row: string): string => row.replaceAll(/(\\\\x[0-9a-f]{32})[0-9a-f]{32}/g, '$1');

/** The entry of a row that says in words what its context does now. */
const entryOf = (row: string): Entry => {
	const [id = '', time = '', organizationId = '', linkId = '', channel = '\\N', ...words] = row.split('\t');
	const told = words.map(readCopyText);
	const [platform = null, os = null, osVersion = null, browser = null, deviceModel = null] = told;
	const [language = null, timezone = null, , country = null, botClass = null] = told.slice(5);
	const month = time.slice(0, 7);
	const context = contextRow(month, {
		platform,
		os,
		osVersion,
		browser,
		deviceModel,
		language,
		timezone,
		country,
		botClass,
	});
	const contextId = contextIdOf(context);
	const referrerHost = words[7] ?? '\\N';
	const click = `${[id, time, organizationId, linkId, contextId, channel, referrerHost].join('\t')}\n`;
	return {id, organizationId, linkId, month, click, contextId, context, match: '', isReturning: false};
};

const NEWLINE = 10;

/** The rows of a payload of the version before, behind a summary of their lengths in bytes. */
const rowsOfSummary = (payload: Buffer) => {
	const from = payload.indexOf(NEWLINE) + 1;
	const {clicks, opened} = JSON.parse(payload.toString('utf8', 0, from)) as {clicks: number; opened: number};
	return {
		clicks: payload.toString('utf8', from, from + clicks),
		opened: payload.toString('utf8', from + clicks, from + clicks + opened),
		returning: payload.toString('utf8', from + clicks + opened),
	};
};

/**
 * The rows of a payload of the version before that: each line is a letter, a tab and a row. `c` and `b` are clicks of
 * people and of crawlers; `n` opens a match of the click before it, `r` goes on with one.
 */
const rowsOfLines = (payload: Buffer) => {
	const lines = payload.toString().split('\n');
	const rows = (...letters: string[]): string =>
		lines.flatMap((line) => (letters.includes(line.charAt(0)) ? [`${line.slice(2)}\n`] : [])).join('');
	return {clicks: rows('c', 'b'), opened: shortened(rows('n')), returning: shortened(rows('r'))};
};

/** Reads a payload that an earlier version left behind. */
export const decodeEarlier = (payload: Buffer): Section => {
	const {clicks, opened, returning} = (payload.toString('latin1', 0, 1) === '{' ? rowsOfSummary : rowsOfLines)(payload);
	const entries = clicks
		.split('\n')
		.filter((row) => row !== '')
		.map(entryOf);
	withMatches(entries, opened, returning);
	return sectionOf(entries);
};
