import {randomBytes} from 'node:crypto';

/** Bidi controls, which show a text in another order than it has. */
const BIDI = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;
const JSON_UNSAFE = /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** A text as one line: control characters and line breaks become spaces. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/** A text as one line that neither moves the cursor nor changes the text direction around it. */
export const safeLine = (text: string): string => oneLine(text).replace(BIDI, '');

/** As `safeLine`, for a text of several lines, which stay lines. */
export const printable = (text: string): string => text.split('\n').map(safeLine).join('\n');

/** A text within XML or HTML. */
export const escapedMarkup = (text: string): string =>
	text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);

/** JSON with every control character escaped, also those that JSON allows. */
export const safeJson = (json: string): string =>
	json.replace(JSON_UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Our own styles are marked with a key of this process, which no stored text can contain. */
const key = randomBytes(8).toString('hex');
const mark = (code: number): string => `\uFDD0${key}.${code}\uFDD1`;
const MARKS = new RegExp(`\uFDD0${key}\\.(\\d+)\uFDD1`, 'g');

/** A styled text, by the codes that turn the style on and off (ECMA-48, SGR). */
export const styled = (text: string, on: number, off: number): string => `${mark(on)}${text}${mark(off)}`;

/** Text for a terminal: printable, with our own styles. */
export const terminalText = (text: string): string => printable(text).replace(MARKS, '\u001B[$1m');
