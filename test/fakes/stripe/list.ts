import type {Params} from './form.ts';
import {integerOf, textOf} from './params.ts';
import {invalidParam, noSuchReference} from './stripe-errors.ts';

/** Parameters of every list. */
export const LIST_PARAMS = ['limit', 'starting_after'];

/** One page of objects, newest first, from a cursor on. */
export const listPage = <T extends {id: string}>(url: string, objects: Iterable<T>, params: Params) => {
	const newestFirst = [...objects].reverse();
	const limit = integerOf(params, 'limit') ?? 10;
	if (limit < 1 || limit > 100) {
		throw invalidParam('limit', 'Invalid integer: limit must be between 1 and 100', 'parameter_invalid_integer');
	}

	const after = textOf(params, 'starting_after');
	const index = newestFirst.findIndex(({id}) => id === after);
	if (after !== null && index < 0) {
		throw noSuchReference('object', after, 'starting_after');
	}

	const rest = newestFirst.slice(index + 1);
	return {object: 'list', url, has_more: rest.length > limit, data: rest.slice(0, limit)};
};
