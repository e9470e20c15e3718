import {type InStream, type Io, type OutStream, write} from '../terminal/io.ts';
import {createPainter, ENTER, LEAVE} from './paint.ts';

/** How somebody left the screen. */
export type Leaving = 'quit' | 'interrupted' | 'terminated';

export type Size = {columns: number; rows: number};

type Screen = OutStream & {rows?: number};
type Keyboard = InStream & {setRawMode?: (isRaw: boolean) => unknown};

const SECONDS_BETWEEN_FRAMES = 0.5;

const CTRL_C = '\u0003';
const CTRL_L = '\u000C';

/**
 * Takes the terminal's second screen and keeps the picture on it, until somebody leaves or `ends`; then the first screen
 * is back as it was.
 * @param draw the picture for a size, at most so many lines of at most so many columns.
 */
export const showLive = async (io: Io, draw: (size: Size) => string, ends: AbortSignal): Promise<Leaving> => {
	const screen = io.stdout as Screen;
	const keyboard = io.stdin as Keyboard;
	const painter = createPainter();
	const frame = () => {
		const text = painter.paint(draw({columns: screen.columns || 80, rows: screen.rows || 24}));
		if (text !== '') {
			screen.write(text);
		}
	};
	// What a terminal makes of a picture when its size changes is its own affair.
	const redraw = () => {
		painter.forget();
		frame();
	};

	let leave: (leaving: Leaving) => void = () => {};
	const left = new Promise<Leaving>((resolve) => {
		leave = resolve;
	});
	const press = (keys: Buffer | string) => {
		for (const key of String(keys)) {
			if (key === 'q' || key === 'Q') {
				leave('quit');
			} else if (key === CTRL_C) {
				leave('interrupted');
			} else if (key === CTRL_L) {
				redraw();
			}
		}
	};
	const interrupt = () => leave('interrupted');
	const terminate = () => leave('terminated');
	const end = () => leave('quit');

	await write(screen, ENTER);
	keyboard.setRawMode?.(true);
	keyboard.on('data', press);
	screen.on('resize', redraw);
	process.on('SIGTERM', terminate).on('SIGHUP', terminate);
	io.interruption.addEventListener('abort', interrupt);
	ends.addEventListener('abort', end);
	frame();
	const stop = io.every(SECONDS_BETWEEN_FRAMES, frame);
	try {
		return await left;
	} finally {
		stop();
		keyboard.removeListener('data', press);
		keyboard.setRawMode?.(false);
		keyboard.pause();
		screen.removeListener('resize', redraw);
		process.off('SIGTERM', terminate).off('SIGHUP', terminate);
		io.interruption.removeEventListener('abort', interrupt);
		ends.removeEventListener('abort', end);
		await write(screen, LEAVE);
	}
};
