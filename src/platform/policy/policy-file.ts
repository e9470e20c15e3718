import {readFileSync} from 'node:fs';
import path from 'node:path';
import {hasControlCharacters} from '../control-characters.ts';
import {hostListFault} from './host-list.ts';
import type {ListFormat} from './list-lines.ts';

/** What a list does to links that lead to its entries. */
export type ListAction = 'block' | 'warn';

/** A list as LINK_POLICY_FILE names it; `file` is a whole path. */
export type ListDefinition = {name: string; file: string; format: ListFormat; action: ListAction};

const FIELDS = ['name', 'file', 'format', 'action'];
const MAX_LISTS = 20;
const MAX_NAME = 50;

/** The fields of an entry; none of what is no object. */
const fieldsOf = (entry: unknown): Record<string, unknown> =>
	typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? {...entry} : {};

const isOneOf = (values: readonly string[], value: unknown): boolean =>
	typeof value === 'string' && values.includes(value);

/** Sentences on an entry. By hand: joi would be loaded before the first page. */
const entryFaults = (entry: unknown, index: number): string[] => {
	const fields = fieldsOf(entry);
	const {name, file, format, action} = fields;
	const at = `entry ${index + 1}`;
	const isName =
		typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME && !hasControlCharacters(name);
	return [
		...(isName ? [] : [`${at}: name must be a text of 1 to ${MAX_NAME} printable characters`]),
		...(typeof file === 'string' && file !== '' ? [] : [`${at}: file must be the path of a file`]),
		...(isOneOf(['hosts', 'domains', 'urls'], format) ? [] : [`${at}: format must be hosts, domains or urls`]),
		...(isOneOf(['block', 'warn'], action) ? [] : [`${at}: action must be block or warn`]),
		...Object.keys(fields)
			.filter((field) => !FIELDS.includes(field))
			.map((field) => `${at}: ${field} is not allowed`),
	];
};

/** Why the file, or one of the lists that it names, cannot be used; null if it can. A list is read up to its first entry. */
export const linkPolicyFault = (file: string): string | null => {
	const {lists, faults} = readPolicyFile(file);
	const ofLists = lists.flatMap((list) => {
		const fault = hostListFault(list.file, list.format);
		return fault === null ? [] : [`the list ${list.name} (${list.file}) ${fault}`];
	});
	return [...faults, ...ofLists].join('; ') || null;
};

/**
 * The lists that a LINK_POLICY_FILE names, in its order.
 * @returns them, and a sentence for each fault.
 */
export const readPolicyFile = (file: string): {lists: ListDefinition[]; faults: string[]} => {
	let content: unknown;
	try {
		content = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
	} catch (error) {
		return {lists: [], faults: [`could not be read: ${(error as Error).message}`]};
	}

	if (!Array.isArray(content) || content.length > MAX_LISTS) {
		return {lists: [], faults: [`must be a JSON list of at most ${MAX_LISTS} entries`]};
	}

	const names = content.map((entry) => fieldsOf(entry)['name']);
	const faults = [
		...content.flatMap(entryFaults),
		...names
			.filter((name, index) => names.indexOf(name) !== index)
			.map((name) => `names the list ${String(name)} more than once`),
	];
	if (faults.length > 0) {
		return {lists: [], faults};
	}

	const folder = path.dirname(path.resolve(file));
	const lists = (content as ListDefinition[]).map((list) => ({...list, file: path.resolve(folder, list.file)}));
	return {lists, faults};
};
