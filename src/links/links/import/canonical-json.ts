import {createHash} from 'node:crypto';
import {ALPHANUMERIC} from '../../../platform/text.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
	value !== null && typeof value === 'object' && !Array.isArray(value);

/** A create body as JSON with sorted keys and without null values: equivalent bodies have the same text. */
export const canonicalJson = (body: object): string =>
	JSON.stringify(body, (_key, value: unknown) =>
		isObject(value)
			? Object.fromEntries(
					Object.entries(value)
						.filter(([, item]) => item !== null)
						.sort(([a], [b]) => (a < b ? -1 : 1)),
				)
			: value,
	);

/** Fields of answers only: an exported row has them, a create body may not. */
export const readOnlyFields: ReadonlySet<string> = new Set([
	'id',
	'organizationId',
	'url',
	'domain',
	'safety',
	'createdAt',
	'updatedAt',
]);

const LENGTH = 12;

/**
 * The short code of an import row without a name: a hash of the row as it stands in the file, so a second run
 * creates no second link. Server and CLI both use it, so the code does not depend on the credential. The organization
 * is not hashed, because short codes are unique per organization only.
 */
export const contentCode = (row: Readonly<Record<string, unknown>>): string => {
	const content = Object.fromEntries(Object.entries(row).filter(([field]) => !readOnlyFields.has(field)));
	let number = BigInt(`0x${createHash('sha256').update(canonicalJson(content)).digest('hex')}`);
	return Array.from({length: LENGTH}, () => {
		const character = ALPHANUMERIC[Number(number % 62n)];
		number /= 62n;
		return character;
	}).join('');
};
