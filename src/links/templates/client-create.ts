import Joi from 'joi';
import type {FieldFault} from '../../platform/errors.ts';
import {partOf, text} from '../../platform/http/answer.ts';
import {decodedText} from '../../platform/query.ts';

/** The fields of a link that a template may open to apps. */
const FIELDS = ['params', 'title', 'path'] as const;
type ClientField = (typeof FIELDS)[number];

/** The fields that apps may set on a template's links (contract/sdk 4). `pathPrefix`: `path` may be it or below it. */
export type ClientCreate = {fields: ClientField[]; pathPrefix?: string};

export type ClientFields = {params?: Record<string, string> | null; title?: string | null; path?: string | null};

/** Each decoding shortens the text, so a path of 2048 characters needs at most 2047. */
const fullyDecoded = (text: string): string | null => {
	let before = text;
	for (;;) {
		const after = decodedText(before);
		if (after === null || after === before) {
			return after;
		}

		before = after;
	}
};

/**
 * Whether no router resolves the path outside its folder: no `.` or `..`, no empty segment, no backslash or control
 * character, and no slash that only decoding shows, however often the text is encoded.
 */
const isPlainPath = (path: string): boolean => {
	const [route = ''] = path.split(/[?#]/, 1);
	const decoded = fullyDecoded(route);
	if (decoded === null || /[\\\p{Cc}]/u.test(decoded)) {
		return false;
	}

	const segments = decoded.split('/');
	const inside = segments.slice(1, -1);
	return (
		segments.length === route.split('/').length &&
		!inside.includes('') &&
		// Some routers read parameters of the segment behind a semicolon.
		!segments.some((segment) => /^\.{1,2}(?:;|$)/.test(segment.trim()))
	);
};

/** Whether `path` is the prefix, or below it: `/invite` is above `/invite/42` and not above `/invited`. */
const isBelow = (path: string, prefix: string): boolean => {
	const next = path.slice(prefix.length, prefix.length + 1);
	return path.startsWith(prefix) && isPlainPath(path) && (prefix.endsWith('/') || /^[/?#]?$/.test(next));
};

export const clientCreateSchema = Joi.object<ClientCreate>({
	fields: Joi.array()
		.items(Joi.valid(...FIELDS))
		.unique()
		.required(),
	pathPrefix: Joi.string()
		.max(255)
		.pattern(/^\/(?:[\w~-][\w.~-]*\/)*(?:[\w~-][\w.~-]*)?$/)
		.message('{{#label}} must begin with / and consist of letters, digits, _, ~, - and .')
		.description('Apps may set `path` to this prefix or below it.'),
});

export const clientCreateAnswer = partOf({
	fields: Joi.array().items(text),
	pathPrefix: text.optional(),
});

/** Which of the fields an app may not set. */
export const closedFields = ({fields: open, pathPrefix}: ClientCreate, given: ClientFields): FieldFault[] => {
	const faults: FieldFault[] = [];
	for (const field of FIELDS) {
		const value = given[field];
		if (value == null) {
			continue;
		}

		if (field === 'path' && pathPrefix !== undefined) {
			if (!isBelow(String(value), pathPrefix)) {
				faults.push({field, message: `path must be below ${pathPrefix}`});
			}
		} else if (!open.includes(field)) {
			faults.push({field, message: `${field} is not open to apps: the template's clientCreate does not list it`});
		}
	}

	return faults;
};
