import {HttpError, malformedRow, required, rowTooLarge} from '../../../platform/errors.ts';
import {type BodyContext, validateBody} from '../../../platform/http/validate.ts';
import type {LinkInput} from '../link.ts';
import {newLink} from '../link-schemas.ts';
import {contentCode, isObject, readOnlyFields} from './canonical-json.ts';
import type {Line} from './line-batches.ts';

/** Length of a line of an import: that of a body (contract/requests 4). */
export const MAX_ROW_BYTES = 256 * 1024;

/** A row that can be imported. `isExported`: it is a line of an export, not a create body. */
export type ReadableRow = {line: number; input: LinkInput; isExported: boolean};
export type ImportRow = ReadableRow | {line: number; error: HttpError};

const parse = (bytes: Buffer): unknown => {
	try {
		return JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(bytes));
	} catch {
		throw malformedRow();
	}
};

/** The create body in a row: without read-only fields, and without null for a path that comes from a template. */
const bodyOf = (row: Record<string, unknown>): Record<string, unknown> => {
	const isNamed = ([field, value]: [string, unknown]) =>
		!readOnlyFields.has(field) && !((field === 'path' || field === 'shortCode') && value === null);
	return Object.fromEntries(Object.entries(row).filter(isNamed));
};

const read = (bytes: Buffer | null, context: BodyContext): Omit<ReadableRow, 'line'> => {
	const row = parse(required(bytes, () => rowTooLarge(MAX_ROW_BYTES)));
	if (!isObject(row)) {
		return {input: validateBody(newLink, row, context), isExported: false};
	}

	const input = validateBody(newLink, bodyOf(row), context);
	const isNamed = input.shortCode !== undefined || input.externalId != null;
	return {input: isNamed ? input : {...input, shortCode: contentCode(row)}, isExported: 'organizationId' in row};
};

/** A line as a row, or as the error of an invalid one; null for a blank line. */
export const readRow = ({line, bytes}: Line, context: BodyContext): ImportRow | null => {
	if (bytes !== null && bytes.toString('latin1').trim() === '') {
		return null;
	}

	try {
		return {line, ...read(bytes, context)};
	} catch (error) {
		if (error instanceof HttpError) {
			return {line, error};
		}

		throw error;
	}
};
