import stringWidth from 'string-width';
import {printable} from './printable.ts';

/** As wide as a space, and no place for a line break. */
const NO_BREAK = '\u00A0';

/**
 * A command line in a sentence: its words, its options with a value each, and placeholders, names and codes. A plain
 * word behind them continues the sentence.
 */
const COMMAND = /\b(?:npx )?oplink(?: [a-z][a-z-]*){1,2}(?: --\S+(?: \S+)?| [^\sa-z-]\S*| [a-z][a-z-]*[.=/]\S*)*/g;

/** Wraps a text to lines of at most `width` columns; a longer word stays whole, and so does a command to be copied. */
export const wrapped = (text: string, width: number): string[] => {
	const lines: string[] = [];
	for (const word of text.replace(COMMAND, (command) => command.replaceAll(' ', NO_BREAK)).split(' ')) {
		const last = lines.at(-1);
		const longer = `${last} ${word}`;
		if (last === undefined || stringWidth(longer) > width) {
			lines.push(word);
		} else {
			lines[lines.length - 1] = longer;
		}
	}

	return lines.map((line) => line.replaceAll(NO_BREAK, ' '));
};

const INDENT = '  ';

/**
 * A printable message, as wide as the terminal it goes to: lines that are wrapped continue indented. Off a terminal a
 * line stays a line.
 */
export const messageText = (text: string, {isTTY, columns = 0}: {isTTY?: boolean; columns?: number}): string => {
	const lines = printable(text).split('\n');
	if (!isTTY || columns <= INDENT.length) {
		return lines.join('\n');
	}

	return lines
		.map((line) => {
			const [left = ''] = /^ */.exec(line) ?? [];
			const [first = '', ...rest] = wrapped(line.slice(left.length), columns - left.length);
			const more = rest.length === 0 ? [] : wrapped(rest.join(' '), columns - left.length - INDENT.length);
			return [first, ...more.map((part) => INDENT + part)].map((part) => left + part).join('\n');
		})
		.join('\n');
};
