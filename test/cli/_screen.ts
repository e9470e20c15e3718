import stringWidth from 'string-width';
import {createSink} from './_run-cli.ts';

const segmenter = new Intl.Segmenter();
const INTRODUCER = '\u001B[';
const SEQUENCE = /(\??)([\d;]*)([A-Za-z])/y;

/**
 * A terminal that renders a picture. It supports the dashboard's escape sequences and fails on others. Output before
 * and after the alternate screen goes to the main one.
 */
export const createScreen = (size: {columns: number; rows: number}) => {
	const sink = createSink();
	const blank = () => Array.from({length: stdout.rows}, () => Array.from({length: stdout.columns}, () => ' '));
	const stdout = Object.assign(sink.stream, {isTTY: true, ...size});
	const state = {cells: blank(), row: 0, column: 0, modes: new Set<string>(), colours: [] as string[], first: ''};

	const put = (segment: string): void => {
		const width = stringWidth(segment);
		const line = state.cells[state.row];
		if (line === undefined || state.column + width > stdout.columns) {
			throw new Error(`'${segment}' is outside of the screen, at ${state.row},${state.column}`);
		}

		line.splice(state.column, width, segment, ...Array.from({length: width - 1}, () => ''));
		state.column += width;
	};
	const act = (isPrivate: boolean, parameters: string, letter: string): void => {
		if (isPrivate) {
			state.modes[letter === 'h' ? 'add' : 'delete'](parameters);
		} else if (letter === 'H') {
			const [row = 1, column = 1] = parameters.split(';').map(Number);
			Object.assign(state, {row: row - 1, column: column - 1});
		} else if (letter === 'J' && parameters === '2') {
			state.cells = blank();
		} else if (letter === 'K' && parameters === '') {
			state.cells[state.row]?.fill(' ', state.column);
		} else if (letter === 'm') {
			state.colours.push(parameters);
		} else {
			throw new Error(`the screen does not know ESC [ ${parameters} ${letter}`);
		}
	};
	const interpret = (text: string): void => {
		for (let at = 0; at < text.length; ) {
			SEQUENCE.lastIndex = at + INTRODUCER.length;
			const [sequence, mark, parameters = '', letter = ''] = SEQUENCE.exec(text) ?? [];
			if (text.startsWith(INTRODUCER, at) && sequence !== undefined) {
				act(mark === '?', parameters, letter);
				at += INTRODUCER.length + sequence.length;
				continue;
			}

			const end = text.indexOf(INTRODUCER, at);
			const plain = text.slice(at, end === -1 ? text.length : end);
			if (state.modes.has('1049')) {
				for (const {segment} of segmenter.segment(plain)) {
					put(segment);
				}
			} else {
				state.first += plain;
			}

			at += plain.length;
		}
	};

	let read = 0;
	const settled = () => {
		const text = sink.text();
		interpret(text.slice(read));
		read = text.length;
		return state;
	};
	return {
		stdout,
		/** The raw output. */
		raw: sink.text,
		/** The visible lines without trailing spaces. */
		lines: (): string[] => settled().cells.map((line) => line.join('').trimEnd()),
		/** Modes that are on: 1049 the second screen, 7 wrapping turned on anew, 25 the cursor shown anew. */
		modes: () => settled().modes,
		/** Colours and other looks that were asked for, in order. */
		colours: () => settled().colours,
		/** The contents of the main screen. */
		first: () => settled().first,
		resize: (to: {columns: number; rows: number}) => {
			settled();
			Object.assign(stdout, to);
			state.cells = blank();
			stdout.emit('resize');
		},
	};
};
