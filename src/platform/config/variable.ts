import {hasControlCharacters} from '../text.ts';
import {readRedisAddress} from './redis-address.ts';

/** Variables by name, as in a process's environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Records an invalid variable; `expected` continues the sentence after its name. */
type Fault = (expected: string) => null;
type Read<T> = (text: string, fault: Fault) => T | null;

/** The declaration of a variable: help, `oplink config`, `.env.example` and the configuration are derived from it. */
export type Variable<T> = Readonly<{
	name: string;
	/** Its purpose, for operators. */
	meaning: string;
	/** Its default value. */
	fallback: T;
	/** The default in words, if `fallback` does not show it. */
	fallbackInWords: string | null;
	isSecret: boolean;
	/** Parses a text that is not blank, or returns the result of `fault`. */
	read: Read<T>;
}>;

/** Variables, alone and in groups, by their names in the configuration. */
export type Variables = Readonly<{[key: string]: Variable<unknown> | Variables}>;

/** The values of variables, in the same groups. */
export type ValuesOf<V> = {readonly [K in keyof V]: V[K] extends Variable<infer T> ? T : ValuesOf<V[K]>};

type VariableOptions<F> = {default?: F; defaultInWords?: string | null; secret?: boolean};

const declare = <T, F extends T | null>(
	name: string,
	meaning: string,
	{default: fallback, defaultInWords: fallbackInWords = null, secret: isSecret = false}: VariableOptions<F>,
	read: Read<T>,
): Variable<T | F> => ({name, meaning, fallback: (fallback ?? null) as F, fallbackInWords, isSecret, read});

/** Values become URLs, headers and lines of a terminal. */
const withoutControls: Read<string> = (value, fault) =>
	hasControlCharacters(value) ? fault('must have no control characters') : value;

/** A text, unchanged; `expected` describes `pattern`. */
export const text = <F extends string | null = null>(
	name: string,
	meaning: string,
	{pattern = /^/, expected = '', ...facts}: VariableOptions<F> & {pattern?: RegExp; expected?: string} = {},
) =>
	declare<string, F>(name, meaning, facts, (value, fault) =>
		pattern.test(value) ? withoutControls(value, fault) : fault(expected),
	);

export const integer = <F extends number | null = null>(
	name: string,
	meaning: string,
	{min, max, ...facts}: VariableOptions<F> & {min: number; max: number},
) =>
	declare<number, F>(name, meaning, facts, (value, fault) => {
		const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
		return number >= min && number <= max ? number : fault(`must be an integer from ${min} to ${max}`);
	});

/** A URL without trailing slashes, unless it is `exact`. */
export const url = <F extends string | null = null>(
	name: string,
	meaning: string,
	{
		protocols = ['https:', 'http:'],
		exact = false,
		...facts
	}: VariableOptions<F> & {protocols?: string[]; exact?: boolean} = {},
) =>
	declare<string, F>(name, meaning, facts, (value, fault) => {
		const kept = exact ? value : value.replace(/(?<!\/)\/+$/, '');
		const begins = protocols.map((protocol) => `${protocol}//`).join(' or ');
		return URL.canParse(value) && protocols.includes(new URL(value).protocol)
			? withoutControls(kept, fault)
			: fault(`must be a URL that begins with ${begins}`);
	});

/** A Redis, one behind Sentinels, or a Cluster. */
export const redis = (name: string, meaning: string, facts: VariableOptions<null>) =>
	declare<string, null>(name, meaning, facts, (value, fault) => {
		const address = readRedisAddress(value);
		return typeof address === 'string' ? fault(address) : value;
	});

/** One of a few words, which are listed after the description. */
export const choice = <T extends string, F extends T | null = null>(
	name: string,
	meaning: string,
	{values, ...facts}: VariableOptions<F> & {values: readonly T[]},
) =>
	declare<T, F>(
		name,
		`${meaning}: ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
		facts,
		(value, fault) => values.find((one) => one === value) ?? fault(`must be one of ${values.join(', ')}`),
	);

type ListFacts = {isItem?: (item: string) => boolean; expected?: string; defaultInWords?: string};

/** Items separated by commas; none by default. */
export const list = (name: string, meaning: string, {isItem = () => true, expected = '', ...facts}: ListFacts = {}) =>
	declare<readonly string[], readonly string[]>(name, meaning, {...facts, default: []}, (value, fault) => {
		const items = value.split(',').flatMap((item) => item.trim() || []);
		const wrong = items.filter((item) => !isItem(item));
		return wrong.length === 0 ? items : fault(`must be ${expected}; wrong: ${wrong.join(', ')}`);
	});

export const isVariable = (entry: Variable<unknown> | Variables): entry is Variable<unknown> =>
	typeof entry['read'] === 'function';

/** A variable's text; null if it is blank or unset. */
export const textOf = (env: Environment, name: string): string | null => env[name]?.trim() || null;

/**
 * The values of variables. Faults are added to `faults`, one sentence per variable, which then has its default.
 * @param textBy a variable's text; null if it is unset.
 */
export const readVariables = <V extends Variables>(
	variables: V,
	textBy: (name: string) => string | null,
	faults: string[],
): ValuesOf<V> => {
	const readOne = ({name, read, fallback}: Variable<unknown>) => {
		const given = textBy(name);
		const fault = (expected: string) => {
			faults.push(`${name} ${expected}`);
			return null;
		};
		return given === null ? fallback : (read(given, fault) ?? fallback);
	};
	return Object.fromEntries(
		Object.entries(variables).map(([key, entry]) => [
			key,
			isVariable(entry) ? readOne(entry) : readVariables(entry, textBy, faults),
		]),
	) as ValuesOf<V>;
};
