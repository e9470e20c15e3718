import {stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {usageError} from './cli-errors.ts';
import {type Label, sheetHtml, sheetPages} from './qr-sheet.ts';

/** The extension in lower case. */
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
