/** Ink's Text properties for each coloured part; all empty without colour. */
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

/** The palette for NO_COLOR (https://no-color.org). */
export const noColours: Palette = {heading: {}, faint: {}, good: {}, bad: {}, seconds: {}, minutes: {}};
