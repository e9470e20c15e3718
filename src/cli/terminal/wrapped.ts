import stringWidth from 'string-width';
import {printable} from './printable.ts';

const isPlain = (word: string): boolean => /^[a-z][a-z-]*\W?$/.test(word);

/** Whether a word belongs to the command before it, as a subcommand, an option, its value, a name or a code. */
const continues = (command: readonly string[], word: string): boolean => {
	const [last = '', ...before] = command.toReversed();
	if (/(?:npx|oplink)$/.test(last)) {
		return isPlain(word);
	}

	const isSubcommand = isPlain(last) && before[0]?.endsWith('oplink') === true;
	return !isPlain(word) || isSubcommand || /^--[^=]+$/.test(last);
};

/** The words of a text, of which a command to be copied is one. It ends before a plain word, or with a mark. */
const unitsOf = (text: string): string[] => {
	const units: string[] = [];
	let command: string[] = [];
	for (const word of text.split(' ')) {
		if (command.length > 0 && continues(command, word)) {
			command.push(word);
			units.pop();
		} else {
			command = /^\W*(?:npx|oplink)$/.test(word) ? [word] : [];
		}

		units.push(command.length > 0 ? command.join(' ') : word);
		if (/[.,;:)'"`?!]$/.test(word)) {
			command = [];
		}
	}

	return units;
};

/** Wraps a text to lines of at most `width` columns; a longer word stays whole, and so does a command to be copied. */
export const wrapped = (text: string, width: number): string[] => {
	const lines: string[] = [];
	for (const unit of unitsOf(text)) {
		const last = lines.at(-1);
		const longer = `${last} ${unit}`;
		if (last === undefined || stringWidth(longer) > width) {
			lines.push(unit);
		} else {
			lines[lines.length - 1] = longer;
		}
	}

	return lines;
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
