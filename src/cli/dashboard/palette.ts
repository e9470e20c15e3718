/** Properties of an ink Text for each thing that is told apart by colour; all empty where there is none. */
export type Palette = Record<'heading' | 'faint' | 'good' | 'bad' | 'seconds' | 'minutes', PaletteEntry>;
type PaletteEntry = {color?: string; bold?: boolean; dimColor?: boolean};

export const colours: Palette = {
	heading: {bold: true},
	faint: {dimColor: true},
	good: {color: 'green'},
	bad: {color: 'yellow'},
	seconds: {color: 'green'},
	minutes: {color: 'cyan'},
};

/** What NO_COLOR asks for (https://no-color.org). */
export const noColours: Palette = {heading: {}, faint: {}, good: {}, bad: {}, seconds: {}, minutes: {}};
