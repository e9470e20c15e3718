import {stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {usageError} from './cli-errors.ts';
import {type Label, sheetHtml, sheetPages} from './qr-sheet.ts';

/** What the name of a file ends with, in lower case. */
const endingOf = (file: string): string => path.extname(file).toLowerCase();

/** Whether codes go into a folder of that name. */
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

/** The format that was named, else the one that the file's name says, else SVG. @throws OperatorError for another ending. */
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
 * Names of files for short codes, which may differ in case alone, as names of files may not on every machine.
 * @returns a function that gives a name once.
 */
export const createFileNames = () => {
	const given = new Set<string>();
	return ({id, shortCode}: {id: string; shortCode: string}): string => {
		const name = given.has(shortCode.toLowerCase()) ? `${shortCode}-${id}` : shortCode;
		given.add(name.toLowerCase());
		return name;
	};
};

/** @throws OperatorError for a sheet that is neither SVG nor HTML. */
export const requireSheetFormat = (file: string): void => {
	if (!['.svg', '.html', '.htm'].includes(endingOf(file))) {
		throw usageError(`'${file}' is neither .svg nor .html`);
	}
};

/** Writes labels to a sheet: HTML holds all pages, an SVG is one page, so that several are `NAME-1.svg` and so on. */
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
