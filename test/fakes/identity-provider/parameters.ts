import {bodyInvalid, paramFormat, paramMissing, paramUnknown, paramValue} from './provider-errors.ts';
import {isSystemRole, type Metadata, type SystemRole} from './records.ts';

export type Body = Record<string, unknown>;

const isObject = (value: unknown): value is Body =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A body with none but these fields; no body counts as an empty one. */
export const readBody = (body: unknown, allowed: readonly string[]): Body => {
	if (body !== undefined && !isObject(body)) {
		throw bodyInvalid();
	}

	const unknown = Object.keys(body ?? {}).find((name) => !allowed.includes(name));
	if (unknown !== undefined) {
		throw paramUnknown(unknown);
	}

	return body ?? {};
};

export const text = (body: Body, name: string): string | undefined => {
	const value = body[name] ?? undefined;
	if (value !== undefined && typeof value !== 'string') {
		throw paramFormat(name, 'must be a string');
	}

	return value;
};

export const requiredText = (body: Body, name: string): string => {
	const value = text(body, name);
	if (value === undefined || value.trim() === '') {
		throw paramMissing(name);
	}

	return value;
};

export const emailAddress = (body: Body, name: string): string => {
	const value = requiredText(body, name);
	if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) {
		throw paramFormat(name, 'must be a valid email address');
	}

	return value;
};

export const metadata = (body: Body, name: string): Metadata | undefined => {
	const value = body[name] ?? undefined;
	if (value !== undefined && !isObject(value)) {
		throw paramFormat(name, 'must be an object');
	}

	return value;
};

export const integer = (body: Body, name: string, min: number, max: number): number | undefined => {
	const value = body[name] ?? undefined;
	if (value !== undefined && (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)) {
		throw paramValue(name, `must be an integer from ${min} to ${max}`);
	}

	return value as number | undefined;
};

export const systemRole = (body: Body, name: string): SystemRole => {
	const value = requiredText(body, name);
	if (!isSystemRole(value)) {
		throw paramValue(name, 'must be the key of a role of the instance');
	}

	return value;
};

const maxLimit = 500;
const defaultLimit = 10;

const count = (query: URLSearchParams, name: string, fallback: number, min: number, max: number): number => {
	const given = query.get(name);
	const value = given === null ? fallback : Number(given);
	if (given === '' || !Number.isInteger(value) || value < min || value > max) {
		throw paramValue(name, `must be an integer from ${min} to ${max}`);
	}

	return value;
};

/** One page of a list as `limit` and `offset` ask for it, with how many there are. */
export const page = <T>(query: URLSearchParams, items: T[]): {data: T[]; total_count: number} => {
	const limit = count(query, 'limit', defaultLimit, 1, maxLimit);
	const offset = count(query, 'offset', 0, 0, Number.MAX_SAFE_INTEGER);
	return {data: items.slice(offset, offset + limit), total_count: items.length};
};

/** Whether a value is among those that a repeatable query key names; every value is where it is not given. */
export const matchesQuery = (query: URLSearchParams, name: string, value: string): boolean => {
	const asked = query.getAll(name);
	return asked.length === 0 || asked.includes(value);
};

/** As `matchesQuery`, for addresses, which are compared without case. */
export const matchesAddress = (query: URLSearchParams, name: string, address: string): boolean => {
	const asked = query.getAll(name);
	return asked.length === 0 || asked.some((each) => each.toLowerCase() === address.toLowerCase());
};
