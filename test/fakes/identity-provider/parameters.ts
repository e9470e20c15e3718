import {isObject} from './directory.ts';
import {paramFormat, paramMissing, paramUnknown, paramValue} from './provider-errors.ts';
import {isSystemRole, type Metadata, type SystemRole} from './records.ts';

/** Reads a value of a body; undefined where it is missing and may be. @throws where it is not right. */
type Reader<T> = (value: unknown, name: string) => T;

type Readers = Record<string, Reader<unknown>>;
type OptionalName<R extends Readers> = {[K in keyof R]: undefined extends ReturnType<R[K]> ? K : never}[keyof R];
type Read<R extends Readers> = {[K in Exclude<keyof R, OptionalName<R>>]: ReturnType<R[K]>} & {
	[K in OptionalName<R>]?: Exclude<ReturnType<R[K]>, undefined>;
};

/** The fields of a body, which has none but these; `publicMetadata` is `public_metadata` there. Null counts as missing. */
export const readBody = <R extends Readers>(body: Record<string, unknown>, readers: R): Read<R> => {
	const fields = Object.entries(readers).map(([key, read]) => {
		const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
		return {key, name, read};
	});
	const unknown = Object.keys(body).find((given) => !fields.some(({name}) => name === given));
	if (unknown !== undefined) {
		throw paramUnknown(unknown);
	}

	const values = fields.map(({key, name, read}) => [key, read(body[name] ?? undefined, name)]);
	return Object.fromEntries(values.filter(([, value]) => value !== undefined));
};

export const anything: Reader<unknown> = (value) => value;

export const text: Reader<string | undefined> = (value, name) => {
	if (value !== undefined && typeof value !== 'string') {
		throw paramFormat(name, 'must be a string');
	}

	return value;
};

export const requiredText: Reader<string> = (given, name) => {
	const value = text(given, name);
	if (value === undefined || value.trim() === '') {
		throw paramMissing(name);
	}

	return value;
};

export const emailAddress: Reader<string> = (given, name) => {
	const value = requiredText(given, name);
	if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) {
		throw paramFormat(name, 'must be a valid email address');
	}

	return value;
};

export const metadata: Reader<Metadata | undefined> = (value, name) => {
	if (value !== undefined && !isObject(value)) {
		throw paramFormat(name, 'must be an object');
	}

	return value;
};

export const integer =
	(min: number, max: number): Reader<number | undefined> =>
	(value, name) => {
		if (value !== undefined && !(Number.isInteger(value) && Number(value) >= min && Number(value) <= max)) {
			throw paramValue(name, `must be an integer from ${min} to ${max}`);
		}

		return value as number | undefined;
	};

export const systemRole: Reader<SystemRole> = (given, name) => {
	const value = requiredText(given, name);
	if (!isSystemRole(value)) {
		throw paramValue(name, 'must be the key of a role of the instance');
	}

	return value;
};

const maxLimit = 500;
const defaultLimit = 10;

const count = (query: URLSearchParams, name: string, fallback: number, min: number, max: number): number => {
	const given = query.get(name);
	return integer(min, max)(given === '' ? Number.NaN : Number(given ?? fallback), name) ?? fallback;
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
