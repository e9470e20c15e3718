import {createHash} from 'node:crypto';
import {ALPHANUMERIC} from '../../random-text.ts';
import {canonicalJson} from './canonical-json.ts';

/** Fields that a link has in answers alone: an exported row carries them, a create body may not. */
export const readOnlyFields: ReadonlySet<string> = new Set([
	'id',
	'organizationId',
	'url',
	'domain',
	'createdAt',
	'updatedAt',
]);

const LENGTH = 12;

/**
 * The short code of an import row without a name of its own: the same row always gets the same one, so that a second
 * run makes no second link. The server and the CLI both ask here, each with the row as it stands in the file, so that
 * the code does not depend on the credential. Short codes are an organization's own, so the organization is not hashed.
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
