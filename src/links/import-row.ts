import {createHash} from 'node:crypto';
import type {Addresses} from '../config.ts';
import {HttpError, malformedRow, rowTooLarge} from '../errors.ts';
import {validateBody} from '../http/validate.ts';
import {ALPHANUMERIC} from '../organizations/org-key.ts';
import {canonicalJson} from './canonical-json.ts';
import type {Line} from './line-batches.ts';
import type {LinkInput} from './link.ts';
import {newLink} from './link-schemas.ts';

/** Longest line of an import: what a body may have (decisions 3). */
export const MAX_ROW_BYTES = 256 * 1024;

/** A row that can be imported. `isExported`: it is a link as the export wrote it, and no create body. */
export type ReadableRow = {line: number; input: LinkInput; isExported: boolean};
export type ImportRow = ReadableRow | {line: number; error: HttpError};

/** Fields that a link has in answers alone. */
const READ_ONLY = ['id', 'organizationId', 'url', 'domain', 'createdAt', 'updatedAt'];

const DERIVED_LENGTH = 12;

/** A short code that a row without any name of its own always gets, so that the same row is the same link. */
const derivedShortCode = (organizationId: string, input: LinkInput): string => {
	const digest = createHash('sha256')
		.update(`${organizationId} ${canonicalJson(input)}`)
		.digest('hex');
	let number = BigInt(`0x${digest}`);
	return Array.from({length: DERIVED_LENGTH}, () => {
		const character = ALPHANUMERIC[Number(number % 62n)];
		number /= 62n;
		return character;
	}).join('');
};

const parse = (bytes: Buffer): unknown => {
	try {
		return JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(bytes));
	} catch {
		throw malformedRow();
	}
};

const isObject = (value: unknown): value is Record<string, unknown> =>
	value !== null && typeof value === 'object' && !Array.isArray(value);

/** The create body in a row: without what only answers have, and without the null of a path that a template gives. */
const bodyOf = (row: unknown): {body: unknown; isExported: boolean} => {
	if (!isObject(row)) {
		return {body: row, isExported: false};
	}

	const isNamed = ([field, value]: [string, unknown]) =>
		!READ_ONLY.includes(field) && !((field === 'path' || field === 'shortCode') && value === null);
	return {body: Object.fromEntries(Object.entries(row).filter(isNamed)), isExported: 'organizationId' in row};
};

const read = (bytes: Buffer | null, addresses: Addresses, organizationId: string): Omit<ReadableRow, 'line'> => {
	if (bytes === null) {
		throw rowTooLarge(MAX_ROW_BYTES);
	}

	const {body, isExported} = bodyOf(parse(bytes));
	const input = validateBody(newLink, body, addresses);
	const isNamed = input.shortCode !== undefined || input.externalId != null;
	return {input: isNamed ? input : {...input, shortCode: derivedShortCode(organizationId, input)}, isExported};
};

/** A line as a row, or as the reason why it is none; null for a blank line. */
export const readRow = ({line, bytes}: Line, addresses: Addresses, organizationId: string): ImportRow | null => {
	if (bytes !== null && bytes.toString('latin1').trim() === '') {
		return null;
	}

	try {
		return {line, ...read(bytes, addresses, organizationId)};
	} catch (error) {
		if (error instanceof HttpError) {
			return {line, error};
		}

		throw error;
	}
};
