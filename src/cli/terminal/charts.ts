import type {Io} from './io.ts';

/** The characters of a chart: eighth blocks, or ASCII on a terminal that has nothing else. */
export type Ink = 'blocks' | 'ascii';

/** A dumb terminal may have no font for blocks. */
export const inkOf = (env: Io['env']): Ink => (env['TERM'] === 'dumb' ? 'ascii' : 'blocks');

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

const UNITS = [
	['G', 1e9],
	['M', 1e6],
	['k', 1e3],
] as const;

/** A horizontal bar of at most `width` columns for the share of `value` in `most`. Any value above 0 is visible. */
export const bar = (value: number, most: number, width: number, ink: Ink): string => {
	if (value <= 0 || most <= 0 || width <= 0) {
		return '';
	}

	const share = Math.min(1, value / most) * width;
	if (ink === 'ascii') {
		return '#'.repeat(Math.max(1, Math.round(share)));
	}

	const eighths = Math.max(1, Math.round(share * 8));
	return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
};

/** A count or a rate in at most four characters, truncated: `999`, `0.4`, `1.2k`, `12k`, `3.4M`. */
export const compact = (count: number): string => {
	const [unit, size] = UNITS.find(([, one]) => count >= one) ?? ['', 1];
	const amount = count / size;
	return `${amount < 10 ? Math.floor(amount * 10) / 10 : Math.floor(amount)}${unit}`;
};

const LEVELS = {blocks: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], ascii: [' ', '.', ':', '#']};
const AXES = {
	blocks: {tick: '┤', line: '│', corner: '└', floor: '─'},
	ascii: {tick: '+', line: '|', corner: '+', floor: '-'},
};

/** Columns side by side in `height` lines, top line first. Any value above 0 is visible. */
const columns = (values: number[], most: number, height: number, ink: Ink): string[] => {
	const levels = LEVELS[ink];
	const steps = levels.length - 1;
	return Array.from({length: height}, (_, line) => {
		const below = (height - 1 - line) * steps;
		return values
			.map((value) => {
				const filled = value <= 0 ? 0 : Math.max(1, Math.round((value / most) * height * steps));
				return levels[Math.max(0, Math.min(steps, filled - below))];
			})
			.join('');
	});
};

/** Adds up equal numbers of neighbours (fewer in the last column), so that all fit into `width` columns. */
export const fitted = (values: number[], width: number): {values: number[]; each: number} => {
	const each = Math.max(1, Math.ceil(values.length / Math.max(1, width)));
	const sums = Array.from({length: Math.ceil(values.length / each)}, (_, index) =>
		values.slice(index * each, (index + 1) * each).reduce((sum, value) => sum + value, 0),
	);
	return {values: sums, each};
};

/** Widest label of the axis, such as `1.2k`. */
const LABEL = 4;
/** The axis on the left. */
export const AXIS_WIDTH = LABEL + 1;

/**
 * Values as columns with their axis: `height` lines, and a line with `from` and `to` at its ends. A column is two
 * characters wide if all fit. The caller has fitted the values to `width` less AXIS_WIDTH.
 */
export const columnChart = (
	values: number[],
	{width, height, ink, from, to}: {width: number; height: number; ink: Ink; from: string; to: string},
): string[] => {
	const room = width - AXIS_WIDTH;
	const scale = Math.max(1, Math.floor(room / Math.max(1, values.length)));
	const shown = values.flatMap((value) => Array.from({length: scale}, () => value));
	const most = Math.max(1, ...values);
	const {tick, line, corner, floor} = AXES[ink];
	const lines = columns(shown, most, height, ink).map((text, index) => {
		const label = index === 0 ? compact(most) : '';
		return `${label.padStart(LABEL)}${label === '' ? line : tick}${text}`;
	});
	const gap = ' '.repeat(Math.max(1, shown.length - from.length - to.length));
	return [
		...lines,
		`${'0'.padStart(LABEL)}${corner}${floor.repeat(shown.length)}`,
		`${' '.repeat(AXIS_WIDTH)}${from}${gap}${to}`,
	];
};
