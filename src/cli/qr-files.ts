import {stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {inputError, usageError} from './cli-errors.ts';
import {cellText, cut} from './terminal/output.ts';
import {escapedMarkup} from './terminal/printable.ts';

/** A label: the code as the API draws it, and the text that identifies the link. */
export type Label = {svg: string; title: string | null; url: string};

/** A4, in millimetres, with the printers' margin. */
const PAGE = {width: 210, height: 297, margin: 10};
/** Shares of a label's width: the margin around it, and the height of its two lines of text. */
const PADDING = 0.06;
const TEXT = 0.22;
/** Average width of a character relative to its height. */
const CHARACTER = 0.56;

type Grid = {columns: number; rows: number; width: number; height: number};

/** The grid of at least `perPage` places with the largest codes. */
export const gridOf = (perPage: number): Grid => {
	const [width, height] = [PAGE.width - 2 * PAGE.margin, PAGE.height - 2 * PAGE.margin];
	const grids = Array.from({length: perPage}, (_, index): Grid => {
		const columns = index + 1;
		const rows = Math.ceil(perPage / columns);
		return {columns, rows, width: width / columns, height: height / rows};
	});
	const code = (grid: Grid) => Math.min(grid.width, grid.height / (1 + TEXT));
	return grids.reduce((best, grid) => (code(grid) > code(best) ? grid : best));
};

const rounded = (millimetres: number): string => millimetres.toFixed(2);

/** The contents of an SVG element and its view box. @throws OperatorError for invalid SVG. */
const drawingOf = (svg: string): {box: string; drawing: string} => {
	const start = svg.indexOf('<svg');
	const inside = svg.indexOf('>', start) + 1;
	const end = svg.lastIndexOf('</svg>');
	const box = / viewBox="([\d. ]+)"/.exec(svg.slice(start, inside))?.[1];
	if (start === -1 || box === undefined || end < inside) {
		throw inputError('The server answered with a QR code that is not SVG');
	}

	return {box, drawing: svg.slice(inside, end)};
};

const labelSvg = ({svg, title, url}: Label, {width, height}: Grid, index: number, columns: number): string => {
	const [left, above] = [PAGE.margin + (index % columns) * width, PAGE.margin + Math.floor(index / columns) * height];
	const size = Math.min(width, height / (1 + TEXT));
	const top = above + (height - size * (1 + TEXT)) / 2;
	const [code, padding] = [size * (1 - 2 * PADDING), size * PADDING];
	const {box, drawing} = drawingOf(svg);
	const room = width - 2 * padding;
	const font = Math.min(5, size * TEXT * 0.38);
	const short = url.replace(/^https?:\/\//, '');
	const middle = rounded(left + width / 2);
	const line = (text: string, number: number, height: number, weight: string) =>
		`<text x="${middle}" y="${rounded(top + padding + code + number * font * 1.25)}" font-size="${rounded(height)}" font-weight="${weight}" text-anchor="middle">${escapedMarkup(text)}</text>`;
	const name = title === null ? '' : line(cut(cellText(title), Math.floor(room / (font * CHARACTER))), 1, font, 'bold');
	// A truncated address is useless: a long one is printed smaller.
	const fitting = Math.min(font, room / (short.length * CHARACTER));
	return [
		`<rect x="${rounded(left)}" y="${rounded(above)}" width="${rounded(width)}" height="${rounded(height)}" fill="none" stroke="#ccc" stroke-width="0.1"/>`,
		`<svg x="${rounded(left + (width - code) / 2)}" y="${rounded(top + padding)}" width="${rounded(code)}" height="${rounded(code)}" viewBox="${box}" shape-rendering="crispEdges">${drawing}</svg>`,
		name,
		line(short, title === null ? 1 : 2, fitting, 'normal'),
	].join('');
};

/** The labels as SVG documents of one A4 page each. */
const sheetPages = (labels: Label[], perPage: number): string[] => {
	const grid = gridOf(perPage);
	return Array.from({length: Math.ceil(labels.length / perPage)}, (_, page) => {
		const own = labels.slice(page * perPage, (page + 1) * perPage);
		const drawn = own.map((label, index) => labelSvg(label, grid, index, grid.columns));
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${PAGE.width}mm" height="${PAGE.height}mm" viewBox="0 0 ${PAGE.width} ${PAGE.height}" font-family="system-ui, sans-serif">\n${drawn.join('\n')}\n</svg>\n`;
	});
};

/** All pages as one document that prints each on its own sheet. */
const sheetHtml = (pages: string[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>QR codes</title>
<style>
@page {size: A4; margin: 0}
body {margin: 0}
svg {display: block}
body > svg {break-after: page}
body > svg:last-child {break-after: auto}
</style>
<body>
${pages.join('')}</body>
</html>
`;

const endingOf = (file: string): string => path.extname(file).toLowerCase();

/** Whether codes are written to a folder of that name. */
export const isFolder = async (target: string, written: string): Promise<boolean> => {
	if (/[/\\]$/.test(written)) {
		return true;
	}

	return stat(target).then(
		(found) => found.isDirectory(),
		() => false,
	);
};

export type Format = 'svg' | 'png';

/** The named format, else that of the file's extension, else SVG. @throws OperatorError for another extension. */
export const formatOf = (format: Format | undefined, file: string): Format => {
	if (format !== undefined) {
		return format;
	}

	const ending = endingOf(file);
	if (!['', '.svg', '.png'].includes(ending)) {
		throw usageError(`'${file}' is neither .svg nor .png`, 'Name another file, or add --format');
	}

	return ending === '.png' ? 'png' : 'svg';
};

/**
 * File names for short codes, which may differ in case alone; some file systems ignore case.
 * @returns a function that returns each name once.
 */
export const createFileNames = () => {
	const given = new Set<string>();
	return ({id, shortCode}: {id: string; shortCode: string}): string => {
		const name = given.has(shortCode.toLowerCase()) ? `${shortCode}-${id}` : shortCode;
		given.add(name.toLowerCase());
		return name;
	};
};

/** @throws OperatorError for a sheet in another format than SVG and HTML. */
export const requireSheetFormat = (file: string): void => {
	if (!['.svg', '.html', '.htm'].includes(endingOf(file))) {
		throw usageError(`'${file}' is neither .svg nor .html`);
	}
};

/** Writes labels to a sheet: HTML holds all pages; an SVG holds one, so several become `NAME-1.svg` and so on. */
export const writeSheet = async (target: string, labels: Label[], perPage: number): Promise<string[]> => {
	const pages = sheetPages(labels, perPage);
	if (endingOf(target) !== '.svg') {
		await writeFile(target, sheetHtml(pages));
		return [target];
	}

	const {dir, name, ext} = path.parse(target);
	const files: string[] = [];
	for (const [index, page] of pages.entries()) {
		const file = pages.length === 1 ? target : path.join(dir, `${name}-${index + 1}${ext}`);
		await writeFile(file, page);
		files.push(file);
	}

	return files;
};
