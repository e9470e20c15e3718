import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {columnOf} from '../src/platform/db/columns.ts';

const src = path.resolve(import.meta.dirname, '../src');

/**
 * The files of `src` that name a field of a link: by its name in the API (`utmTerm`), its column (`utm_term`) or its flag
 * (`utm-term`). Only useful for names that are no common words.
 */
export const filesNaming = (field: string): string[] => {
	const column = columnOf(field);
	const names = new RegExp(`(?<![\\w-])(?:${field}|${column}|${column.replaceAll('_', '-')})(?![\\w-])`);
	return readdirSync(src, {recursive: true, encoding: 'utf8'})
		.filter((name) => /\.tsx?$/.test(name) && names.test(readFileSync(path.join(src, name), 'utf8')))
		.sort();
};
