import stringWidth from 'string-width';
import {safeLine} from './printable.ts';
import {wrapped} from './wrapped.ts';

/** Width of an id, which is never truncated. */
export const ID_WIDTH = 36;

/**
 * A column of a table; `flexible` ones shrink on a narrow terminal, down to `minWidth`. `keep: 'end'` cuts texts at
 * their start, such as `customer.subscription.updated`. A `wide` column is shown on a wide terminal alone.
 */
export type Column<Row> = {
	title: string;
	value: (row: Row) => unknown;
	flexible?: boolean;
	minWidth?: number;
	keep?: 'end';
	wide?: true;
	align?: 'right';
};

const GAP = 2;
const MIN_WIDTH = 6;
const segmenter = new Intl.Segmenter();

const isEmpty = (value: unknown): boolean =>
	value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** A value as a cell: a missing one is a dash, and control characters are removed. */
export const cellText = (value: unknown): string => {
	if (isEmpty(value)) {
		return '-';
	}

	if (Array.isArray(value)) {
		return value.map((item) => cellText(item)).join(', ');
	}

	const text =
		typeof value === 'object'
			? JSON.stringify(value)
			: typeof value === 'boolean'
				? value
					? 'yes'
					: 'no'
				: String(value);
	return safeLine(text);
};

const graphemesOf = (text: string): string[] => Array.from(segmenter.segment(text), ({segment}) => segment);

/** The first graphemes of a wider text that leave a column for an ellipsis. */
const fitting = (graphemes: string[], width: number): string[] => {
	let used = 1;
	return graphemes.slice(
		0,
		graphemes.findIndex((grapheme) => {
			used += stringWidth(grapheme);
			return used > width;
		}),
	);
};

/** Truncates a text to a width in terminal columns, between graphemes. */
export const cut = (text: string, width: number): string =>
	stringWidth(text) <= width ? text : `${fitting(graphemesOf(text), width).join('')}…`;

/** Truncates a text to a width at its start. */
const cutStart = (text: string, width: number): string =>
	stringWidth(text) <= width ? text : `…${fitting(graphemesOf(text).reverse(), width).reverse().join('')}`;

const pad = (text: string, width: number, align?: 'right'): string => {
	const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
	return align === 'right' ? space + text : text + space;
};

/** Shrinks the widest column above its minWidth until all fit or none can shrink. */
const fitWidths = (widths: number[], minWidth: number[], total: number): number[] => {
	const fitted = [...widths];
	const sum = () => fitted.reduce((all, width) => all + width + GAP, -GAP);
	while (sum() > total) {
		const candidates = fitted.map((width, index) => (width > (minWidth[index] ?? width) ? width : 0));
		const widest = Math.max(...candidates);
		if (widest === 0) {
			break;
		}

		fitted[candidates.indexOf(widest)] = widest - 1;
	}

	return fitted;
};

/** A table as text, one line per row, at most `width` columns wide if its flexible columns allow it. */
export const table = <Row>(
	columns: Array<Column<Row>>,
	rows: Row[],
	{width, heading = (text) => text}: {width: number; heading?: (text: string) => string},
): string => {
	const cells = rows.map((row) => columns.map((column) => cellText(column.value(row))));
	const natural = columns.map((column, index) =>
		Math.max(stringWidth(column.title), ...cells.map((row) => stringWidth(row[index] ?? ''))),
	);
	const widths = fitWidths(
		natural,
		columns.map(({flexible, minWidth = MIN_WIDTH}) => (flexible ? minWidth : Number.POSITIVE_INFINITY)),
		width,
	);
	const line = (texts: string[]) =>
		texts
			.map((text, index) => {
				const {keep, align} = columns[index] ?? {};
				const width = widths[index] ?? 0;
				return pad((keep === 'end' ? cutStart : cut)(text, width), width, align);
			})
			.join(' '.repeat(GAP))
			.trimEnd();
	return [heading(line(columns.map(({title}) => title))), ...cells.map((row) => line(row))].join('\n');
};

/**
 * Names and values on separate lines, with aligned values, wrapped if a `width` is given. A pair whose value is undefined
 * is left out.
 */
export const keyValues = (pairs: Array<[name: string, value: unknown]>, width = Number.POSITIVE_INFINITY): string => {
	// A name may come from a tenant, like that of a parameter.
	const named = pairs.flatMap(([name, value]) => (value === undefined ? [] : [[safeLine(name), value] as const]));
	const names = Math.max(0, ...named.map(([name]) => stringWidth(name)));
	const left = names + GAP;
	return named
		.map(([name, value]) => {
			const text = cellText(value);
			const lines = Number.isFinite(width) ? wrapped(text, width - left) : [text];
			return `${pad(name, left)}${lines.join(`\n${' '.repeat(left)}`)}`;
		})
		.join('\n');
};

/** An object of the API as names and values, in the answer's order; nested fields have dotted names, empty ones none. */
export const flattened = (value: object, prefix = ''): Array<[string, unknown]> =>
	Object.entries(value).flatMap(
		([name, inner]): Array<[string, unknown]> =>
			typeof inner === 'object' && inner !== null && !Array.isArray(inner)
				? flattened(inner, `${prefix}${name}.`)
				: isEmpty(inner)
					? []
					: [[`${prefix}${name}`, inner]],
	);
