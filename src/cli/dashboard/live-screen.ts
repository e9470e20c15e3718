import {type InStream, type Io, type OutStream, write} from '../terminal/io.ts';

/** The alternate screen, cleared, without cursor or line wrapping. */
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J';
/** Restores the main screen. */
const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';

const CLEAR = '\u001B[2J';
/** Terminals that know these sequences show the text between them in one update. */
const [BEGIN, END] = ['\u001B[?2026h', '\u001B[?2026l'];

/**
 * Tracks the screen's contents and returns the update to the next picture: only the lines that differ, each in its
 * place, so that nothing flickers or scrolls.
 */
export const createPainter = () => {
	let shown: string[] | null = null;
	return {
		/** Text for the terminal, empty without changes. */
		paint: (picture: string): string => {
			const lines = picture.split('\n');
			const changes = lines.flatMap((line, index) =>
				line === (shown ?? [])[index] ? [] : [`\u001B[${index + 1};1H${line}\u001B[K`],
			);
			const start = shown === null ? CLEAR : '';
			shown = lines;
			return changes.length === 0 ? '' : `${BEGIN}${start}${changes.join('')}${END}`;
		},
		forget: (): void => {
			shown = null;
		},
	};
};

type ExitReason = 'quit' | 'interrupted' | 'terminated';

export type Size = {columns: number; rows: number};

type Screen = OutStream & {rows?: number};
type Keyboard = InStream & {setRawMode?: (isRaw: boolean) => unknown};

const SECONDS_BETWEEN_FRAMES = 0.5;

const CTRL_C = '\u0003';
const CTRL_L = '\u000C';

/**
 * Shows the picture on the terminal's alternate screen until the user leaves or `ends`, then restores the main screen.
 * @param draw renders the picture for a size, within that many lines and columns.
 */
export const showLive = async (io: Io, draw: (size: Size) => string, ends: AbortSignal): Promise<ExitReason> => {
	const screen = io.stdout as Screen;
	const keyboard = io.stdin as Keyboard;
	const painter = createPainter();
	const frame = () => {
		const text = painter.paint(draw({columns: screen.columns || 80, rows: screen.rows || 24}));
		if (text !== '') {
			screen.write(text);
		}
	};
	// After a resize the terminal's contents are unknown.
	const redraw = () => {
		painter.forget();
		frame();
	};

	let end: (reason: ExitReason) => void = () => {};
	const ended = new Promise<ExitReason>((resolve) => {
		end = resolve;
	});
	const press = (keys: Buffer | string) => {
		for (const key of String(keys)) {
			if (key === 'q' || key === 'Q') {
				end('quit');
			} else if (key === CTRL_C) {
				end('interrupted');
			} else if (key === CTRL_L) {
				redraw();
			}
		}
	};
	const interrupt = () => end('interrupted');
	const terminate = () => end('terminated');
	const quit = () => end('quit');

	await write(screen, ENTER);
	keyboard.setRawMode?.(true);
	keyboard.on('data', press);
	screen.on('resize', redraw);
	process.on('SIGTERM', terminate).on('SIGHUP', terminate);
	io.interruption.addEventListener('abort', interrupt);
	ends.addEventListener('abort', quit);
	frame();
	const stop = io.every(SECONDS_BETWEEN_FRAMES, frame);
	try {
		return await ended;
	} finally {
		stop();
		keyboard.removeListener('data', press);
		keyboard.setRawMode?.(false);
		keyboard.pause();
		screen.removeListener('resize', redraw);
		process.off('SIGTERM', terminate).off('SIGHUP', terminate);
		io.interruption.removeEventListener('abort', interrupt);
		ends.removeEventListener('abort', quit);
		await write(screen, LEAVE);
	}
};
