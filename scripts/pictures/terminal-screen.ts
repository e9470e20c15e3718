import stringWidth from 'string-width';

/** One cell of a terminal: a character, empty behind a wide one, and how it looks. */
export type Cell = {text: string; style: string};

const segmenter = new Intl.Segmenter();
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with them
const SEQUENCE = /\u001B\[([?>]?)([\d;]*)([A-Za-z])/y;
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** The classes of a text after SGR codes: bold, dim and the eight colours; nothing else is written by the program. */
const restyled = (style: string, codes: string): string => {
	const classes = new Set(style.split(' ').filter((name) => name !== ''));
	const without = (...names: string[]): void => {
		for (const name of names) {
			classes.delete(name);
		}
	};
	for (const code of (codes || '0').split(';').map(Number)) {
		const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
		if (code === 0) {
			classes.clear();
		} else if (code === 1 || code === 2) {
			classes.add(code === 1 ? 'bold' : 'dim');
		} else if (code === 22) {
			without('bold', 'dim');
		} else if (code === 39) {
			without(...COLOURS);
		} else if (colour !== undefined) {
			without(...COLOURS);
			classes.add(colour);
		} else {
			throw new Error(`the picture has no style for SGR ${code}`);
		}
	}

	return [...classes].join(' ');
};

/**
 * A terminal as far as the program uses one. A package that emulates a whole one would be a dependency for a few
 * sequences; what this one does not know is an error, so that no picture is drawn wrongly.
 */
export const createTerminalScreen = ({columns, rows}: {columns: number; rows: number}) => {
	const blankLine = (): Cell[] => Array.from({length: columns}, () => ({text: ' ', style: ''}));
	const blank = (): Cell[][] => Array.from({length: rows}, blankLine);
	const state = {cells: blank(), row: 0, column: 0, style: ''};

	const lineFeed = (): void => {
		if (state.row < rows - 1) {
			state.row += 1;
			return;
		}

		state.cells.shift();
		state.cells.push(blankLine());
	};
	const put = (text: string): void => {
		const width = stringWidth(text);
		if (state.column + width > columns) {
			state.column = 0;
			lineFeed();
		}

		const filler = Array.from({length: width - 1}, () => ({text: '', style: state.style}));
		state.cells[state.row]?.splice(state.column, width, {text, style: state.style}, ...filler);
		state.column += width;
	};
	const erase = (line: number, from = 0, to = columns): void => {
		state.cells[line]?.splice(from, to - from, ...blankLine().slice(0, to - from));
	};
	const act = (letter: string, parameters: string): void => {
		const [first = 1, second = 1] = parameters.split(';').map((text) => Number(text) || 1);
		switch (letter) {
			case 'm':
				state.style = restyled(state.style, parameters);
				break;
			case 'H':
				Object.assign(state, {row: first - 1, column: second - 1});
				break;
			case 'A':
				state.row = Math.max(0, state.row - first);
				break;
			case 'G':
				state.column = first - 1;
				break;
			case 'K':
				erase(state.row, parameters === '2' ? 0 : state.column);
				break;
			case 'J':
				erase(state.row, parameters === '' ? state.column : 0);
				for (let line = parameters === '' ? state.row + 1 : 0; line < rows; line += 1) {
					erase(line);
				}

				break;
			default:
				throw new Error(`the picture knows no ESC [ ${parameters} ${letter}`);
		}
	};
	const character = (text: string): void => {
		if (text === '\n' || text === '\r\n') {
			state.column = 0;
			lineFeed();
		} else if (text === '\r') {
			state.column = 0;
		} else if (text !== '\u0007') {
			put(text);
		}
	};

	return {
		write: (text: string): void => {
			for (let at = 0; at < text.length; ) {
				SEQUENCE.lastIndex = at;
				const [sequence, mark, parameters = '', letter = ''] = SEQUENCE.exec(text) ?? [];
				if (sequence !== undefined) {
					// Modes, such as the second screen and the cursor, change nothing in a picture.
					if (mark === '') {
						act(letter, parameters);
					}

					at += sequence.length;
					continue;
				}

				const end = text.indexOf('\u001B', at + 1);
				for (const {segment} of segmenter.segment(text.slice(at, end === -1 ? text.length : end))) {
					character(segment);
				}

				at = end === -1 ? text.length : end;
			}
		},
		cells: (): Cell[][] => state.cells.map((line) => line.map((cell) => ({...cell}))),
	};
};
