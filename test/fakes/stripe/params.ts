import type Stripe from 'stripe';
import type {Param, Params} from './form.ts';
import {invalidParam, missingParam, unknownParam} from './stripe-errors.ts';

/** Accepted everywhere. */
const COMMON = ['expand'];

/** @throws for the first parameter that is none of these, as a misspelled one would be refused by the real one. */
export const allowOnly = (params: Params, names: string[], within = ''): void => {
	for (const name of Object.keys(params)) {
		if (!names.includes(name) && !(within === '' && COMMON.includes(name))) {
			throw unknownParam(within === '' ? name : `${within}[${name}]`);
		}
	}
};

/** Text, null where the parameter is not given. An empty one stands for 'unset'. */
export const textOf = (params: Params, name: string, limit = 5000): string | null => {
	const value = params[name];
	if (value === undefined) {
		return null;
	}

	if (typeof value !== 'string') {
		throw invalidParam(name, `Invalid string: ${JSON.stringify(value)}`);
	}

	if (value.length > limit) {
		throw invalidParam(name, `Invalid string: ${value.slice(0, 8)}…; must be at most ${limit} characters`);
	}

	return value;
};

export const requiredText = (params: Params, name: string): string => {
	const value = textOf(params, name);
	if (value === null || value === '') {
		throw missingParam(name);
	}

	return value;
};

export const integerOf = (params: Params, name: string): number | null => {
	const value = textOf(params, name);
	if (value === null || value === '') {
		return null;
	}

	if (!/^-?\d+$/.test(value)) {
		throw invalidParam(name, `Invalid integer: ${value}`, 'parameter_invalid_integer');
	}

	return Number(value);
};

export const booleanOf = (params: Params, name: string): boolean | null => {
	const value = textOf(params, name);
	if (value === null || value === '') {
		return null;
	}

	if (value !== 'true' && value !== 'false') {
		throw invalidParam(name, `Invalid boolean: ${value}`);
	}

	return value === 'true';
};

/** One of the words, null where the parameter is not given. */
export const wordOf = (params: Params, name: string, words: string[]): string | null => {
	const value = textOf(params, name);
	if (value !== null && !words.includes(value)) {
		throw invalidParam(name, `Invalid ${name}: must be one of ${words.join(', ')}`);
	}

	return value;
};

const isHash = (value: Param): value is Params => typeof value === 'object' && !Array.isArray(value);

export const hashOf = (params: Params, name: string): Params | null => {
	const value = params[name];
	if (value !== undefined && !isHash(value)) {
		throw invalidParam(name, 'Invalid object');
	}

	return value ?? null;
};

/** The hashes of a list, null where the parameter is not given. */
export const listOf = (params: Params, name: string): Params[] | null => {
	const value = params[name];
	if (value === undefined) {
		return null;
	}

	if (!Array.isArray(value)) {
		throw invalidParam(name, 'Invalid array');
	}

	return value.map((entry) => {
		if (!isHash(entry)) {
			throw invalidParam(name, 'Invalid array of objects');
		}

		return entry;
	});
};

/** Metadata as it is after a request: new keys join, an empty value takes its key away. */
export const mergeMetadata = (before: Stripe.Metadata, params: Params): Stripe.Metadata => {
	const merged = new Map(Object.entries(before));
	for (const [key, value] of Object.entries(hashOf(params, 'metadata') ?? {})) {
		if (typeof value !== 'string' || value.length > 500) {
			throw invalidParam(`metadata[${key}]`, 'Metadata values can have up to 500 characters');
		}

		if (key.length > 40) {
			throw invalidParam('metadata', `Metadata keys can have up to 40 characters: ${key}`);
		}

		if (value === '') {
			merged.delete(key);
		} else {
			merged.set(key, value);
		}
	}

	if (merged.size > 50) {
		throw invalidParam('metadata', 'Metadata can have up to 50 keys');
	}

	return Object.fromEntries(merged);
};
