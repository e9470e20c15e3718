import {readFile} from 'node:fs/promises';
import path from 'node:path';
import Joi from 'joi';
import {checkBody} from '../http/validate.ts';
import type {ListFormat} from './list-lines.ts';

/** The effect of a list on links that lead to its entries. */
export type ListAction = 'block' | 'warn';

/** A list as LINK_POLICY_FILE names it; `file` is a whole path. */
export type ListDefinition = {name: string; file: string; format: ListFormat; action: ListAction};

const MAX_LISTS = 20;

const listDefinition = Joi.object<ListDefinition>({
	name: Joi.string()
		.pattern(/^(?=.*\S)\P{C}{1,50}$/u)
		.message('{{#label}} must be a text of 1 to 50 printable characters')
		.required(),
	file: Joi.string().required(),
	format: Joi.valid('hosts', 'domains', 'urls').required(),
	action: Joi.valid('block', 'warn').required(),
});

const definitionsIn = async (file: string): Promise<ListDefinition[]> => {
	const content: unknown = JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, ''));
	if (!Array.isArray(content) || content.length > MAX_LISTS) {
		throw new Error(`must be a JSON list of at most ${MAX_LISTS} entries`);
	}

	const checked = content.map((entry) => checkBody(listDefinition, entry, {linkHosts: []}));
	const names = checked.flatMap(({value, faults}) => (faults.length === 0 ? value.name : []));
	const faults = [
		...checked.flatMap((entry, index) => entry.faults.map(({message}) => `entry ${index + 1}: ${message}`)),
		...names
			.filter((name, index) => names.indexOf(name) < index)
			.map((name) => `names the list ${name} more than once`),
	];
	if (faults.length > 0) {
		throw new Error(faults.join('; '));
	}

	return checked.map(({value}) => ({...value, file: path.resolve(path.dirname(file), value.file)}));
};

/** The lists that a LINK_POLICY_FILE names, in its order. @throws with the file and a sentence for each fault. */
export const readPolicyFile = async (file: string): Promise<ListDefinition[]> => {
	try {
		return await definitionsIn(file);
	} catch (error) {
		throw new Error(`${file}: ${(error as Error).message}`, {cause: error});
	}
};
