import {readFileSync} from 'node:fs';
import path from 'node:path';
import {packageRoot} from '../package-root.ts';

/**
 * A line of `config/crawlers.json`: a literal that a User-Agent holds, upper and lower case alike. `at` narrows where:
 * at its `start`, as a `word` of its own, or as the `whole` header, because humans' User-Agents hold some of the same
 * words; `digit` asks for a digit right after it.
 */
type ListedToken = {name: string; token: string; at?: 'anywhere' | 'start' | 'word' | 'whole'; digit?: boolean};

/** One list, ready to be asked. */
export type UserAgentList = {
	/** The name of the first line that the User-Agent fits, or null where none does. */
	nameIn: (userAgent: string) => string | null;
};

export type UserAgentLists = {preview: UserAgentList; search: UserAgentList; inApp: UserAgentList};

const sourceOf = ({token, at = 'anywhere', digit = false}: ListedToken): string => {
	const literal = token.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&') + (digit ? '\\d' : '');
	if (at === 'start' || at === 'whole') {
		return at === 'whole' ? `^${literal}$` : `^${literal}`;
	}

	return at === 'word'
		? `${/^\w/.test(token) ? '\\b' : ''}${literal}${!digit && /\w$/.test(token) ? '\\b' : ''}`
		: literal;
};

const compile = (tokens: ListedToken[]): UserAgentList => {
	// Literals only, so there is nothing to backtrack into; the names are looked up after the one test that most fail.
	const any = new RegExp(tokens.map(sourceOf).join('|'), 'i');
	const each = tokens.map((token) => ({name: token.name, pattern: new RegExp(sourceOf(token), 'i')}));
	return {
		nameIn: (userAgent) =>
			any.test(userAgent) ? (each.find(({pattern}) => pattern.test(userAgent))?.name ?? null) : null,
	};
};

let shipped: UserAgentLists | undefined;

/** The lists of `config/crawlers.json`, read and compiled at the first use. The tests check that every line has its form. */
export const userAgentLists = (): UserAgentLists => {
	if (shipped === undefined) {
		const text = readFileSync(path.join(packageRoot, 'config', 'crawlers.json'), 'utf8');
		const lists = JSON.parse(text) as Record<keyof UserAgentLists, ListedToken[]>;
		shipped = {preview: compile(lists.preview), search: compile(lists.search), inApp: compile(lists.inApp)};
	}

	return shipped;
};
