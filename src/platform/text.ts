import {randomInt} from 'node:crypto';

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `length` characters of base 62, each from the system's random source. */
export const randomAlphanumeric = (length: number): string => {
	let text = '';
	while (text.length < length) {
		text += ALPHANUMERIC.charAt(randomInt(ALPHANUMERIC.length));
	}

	return text;
};

/** Whether a text has a control character: parsers of URLs drop some, and terminals obey others. */
export const hasControlCharacters = (text: string): boolean => /\p{Cc}/u.test(text);

/**
 * The beginning of a text: at most that many units of UTF-16, without half a surrogate pair at its end, which would be stored
 * as U+FFFD.
 */
export const cutText = (text: string, max: number): string =>
	text.slice(0, (text.codePointAt(max - 1) ?? 0) > 0xffff ? max - 1 : max);

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID, of any version and in any case. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** A number of things, in plain words: `1 link`, `1,200 links`. @param word takes an s as a plural. */
export const counted = (count: number, word: string): string =>
	`${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
