/** The alternate screen, cleared, without cursor or line wrapping. */
export const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J';
/** Restores the main screen. */
export const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';

const CLEAR = '\u001B[2J';
/** Terminals that know these sequences show what is between them at once. */
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
		/** The screen's contents are unknown. */
		forget: (): void => {
			shown = null;
		},
	};
};
