/** The second screen, empty, without a cursor; a line that is wider than we think is cut and does not wrap. */
export const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J';
/** The first screen as it was. */
export const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';

const CLEAR = '\u001B[2J';
/** What stands between these a terminal shows at once, if it knows them. */
const [BEGIN, END] = ['\u001B[?2026h', '\u001B[?2026l'];

/**
 * Remembers what is on the screen and says what brings the next picture onto it: only the lines that differ, each at its
 * own place, so that nothing flickers or scrolls.
 */
export const createPainter = () => {
	let shown: string[] | null = null;
	return {
		/** Text for the terminal, empty where nothing changes. */
		paint: (picture: string): string => {
			const lines = picture.split('\n');
			const changes = lines.flatMap((line, index) =>
				line === (shown ?? [])[index] ? [] : [`\u001B[${index + 1};1H${line}\u001B[K`],
			);
			const start = shown === null ? CLEAR : '';
			shown = lines;
			return changes.length === 0 ? '' : `${BEGIN}${start}${changes.join('')}${END}`;
		},
		/** The screen shows nobody knows what. */
		forget: (): void => {
			shown = null;
		},
	};
};
