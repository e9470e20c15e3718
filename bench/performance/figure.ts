import os from 'node:os';
import type {Ratio} from './statistics.ts';

export type Bar = {atLeast: number} | {atMost: number};

/** One line of the result. */
export type Figure = Ratio & {
	name: string;
	/** The target; null for a figure without one. */
	bar: Bar | null;
	unit: '' | 'ms' | 'clicks' | 'answers';
	/** The measurements behind the figure. */
	notes: string[];
	/** What must not have been, such as clicks that were answered and not stored: any of them fails the run. */
	failures: string[];
	/** The machine's load average of the last minute when it was taken. */
	loadAverage: number;
};

type FigureParts = Ratio & Pick<Figure, 'name'> & Partial<Pick<Figure, 'bar' | 'unit' | 'notes' | 'failures'>>;

export const figure = ({bar = null, unit = '', notes = [], failures = [], ...rest}: FigureParts): Figure => ({
	...rest,
	bar,
	unit,
	notes,
	failures,
	loadAverage: os.loadavg()[0] ?? Number.NaN,
});

/** A number of things that there have to be none of. */
export const noneOf = (name: string, count: number, rest: Pick<FigureParts, 'unit' | 'notes' | 'failures'>): Figure =>
	figure({name, value: count, low: count, high: count, bar: {atMost: 0}, ...rest});

const isMet = ({bar, value}: Figure): boolean =>
	bar === null || ('atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost);

const written = (value: number): string =>
	Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 3 : 1);

/** A figure as lines of text. */
export const describe = (one: Figure): string => {
	const {name, value, low, high, unit, bar, notes, failures, loadAverage} = one;
	const spread = low === high ? '' : ` (${written(low)} to ${written(high)})`;
	const asked = bar === null ? '' : 'atLeast' in bar ? `, bar ≥ ${bar.atLeast}` : `, bar ≤ ${bar.atMost}`;
	const verdict = bar === null ? '' : isMet(one) ? ', met' : ', NOT met';
	const unitText = unit === '' ? '' : ` ${unit}`;
	return [
		`${name}: ${written(value)}${unitText}${spread}${asked}${verdict}; load ${loadAverage.toFixed(1)}`,
		...notes.map((note) => `    ${note}`),
		...failures.map((failure) => `    FAILED: ${failure}`),
	].join('\n');
};
