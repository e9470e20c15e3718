import {decodeRows} from './entry.ts';
import {type Section, sectionOf} from './section.ts';

/** Payloads that an earlier version left behind begin with a click of a person or of a crawler, others with `{`. */
export const isEarlier = (payload: Buffer): boolean => payload[0] !== '{'.charCodeAt(0);

/** Hashes were 32 bytes long, of which the tables keep 16. */
const shortened = (row: string): string => row.replaceAll(/(\\\\x[0-9a-f]{32})[0-9a-f]{32}/g, '$1');

/**
 * Reads a payload of the version before: each line is a letter, a tab and a row. `c` and `b` are clicks of people and
 * of crawlers; `n` opens a match of the click before it, `r` goes on with one.
 */
export const decodeEarlier = (payload: Buffer): Section => {
	const lines = payload.toString().split('\n');
	const rows = (...letters: string[]): string =>
		lines.flatMap((line) => (letters.includes(line.charAt(0)) ? [`${line.slice(2)}\n`] : [])).join('');
	return sectionOf(decodeRows(rows('c', 'b'), shortened(rows('n')), shortened(rows('r'))));
};
