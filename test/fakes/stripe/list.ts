import type {Params} from './form.ts';
import {integerOf, textOf} from './params.ts';
import {invalidParam, noSuchReference} from './stripe-errors.ts';

/** Parameters of every list. */
export const LIST_PARAMS = ['limit', 'starting_after', 'ending_before'];

/** One page of objects, newest first, with cursors. */
export const listPage = <T extends {id: string}>(url: string, objects: Iterable<T>, params: Params) => {
	const newestFirst = [...objects].reverse();
	const limit = integerOf(params, 'limit') ?? 10;
	if (limit < 1 || limit > 100) {
		throw invalidParam('limit', 'Invalid integer: limit must be between 1 and 100', 'parameter_invalid_integer');
	}

	const indexOf = (name: string): number | null => {
		const id = textOf(params, name);
		const index = newestFirst.findIndex((object) => object.id === id);
		if (id !== null && index < 0) {
			throw noSuchReference('object', id, name);
		}

		return id === null ? null : index;
	};
	const [after, before] = [indexOf('starting_after'), indexOf('ending_before')];
	const rest = before === null ? newestFirst.slice((after ?? -1) + 1) : newestFirst.slice(0, before);
	const data = before === null ? rest.slice(0, limit) : rest.slice(-limit);
	return {object: 'list', url, has_more: rest.length > limit, data};
};
