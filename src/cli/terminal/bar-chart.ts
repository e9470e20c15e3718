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
