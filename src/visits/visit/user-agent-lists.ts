import {readConfigFile} from '../../platform/package-root.ts';
import {withoutDevice} from './user-agent.ts';

/**
 * A text to find in a User-Agent, ignoring case unless `exact`. `at` restricts the place: at its `start`, as a separate
 * `word`, at the `end` of a word, or as the `whole` header, because people's User-Agents contain some of the same
 * words. `digit` requires a digit right after it. At least three characters.
 */
export type ListedToken = {
	name: string;
	token: string;
	at?: 'start' | 'word' | 'end' | 'whole';
	digit?: boolean;
	exact?: boolean;
};

type Entry<L extends string> = ListedToken & {list: L; rank: number; lower: string};

/** The index of tokens: their first characters, as one number. */
const KEY_LENGTH = 3;
const keyAt = (text: string, at: number): number =>
	((text.charCodeAt(at) & 0xff) << 16) | ((text.charCodeAt(at + 1) & 0xff) << 8) | (text.charCodeAt(at + 2) & 0xff);

const isWordCharacter = (character: string): boolean => /\w/.test(character);
/** True at a word boundary. */
const isBoundary = (text: string, at: number): boolean =>
	!isWordCharacter(text.charAt(at - 1)) || !isWordCharacter(text.charAt(at));

const fits = (
	{token, lower, at, digit, exact}: ListedToken & {lower: string},
	text: string,
	lowered: string,
	from: number,
) => {
	const end = from + token.length;
	if (!(exact ? text.startsWith(token, from) : lowered.startsWith(lower, from))) {
		return false;
	}

	if (digit && !/\d/.test(lowered.charAt(end))) {
		return false;
	}

	switch (at) {
		case 'start':
			return from === 0;
		case 'whole':
			return from === 0 && end === text.length;
		case 'word':
			return (
				(!isWordCharacter(lower.charAt(0)) || isBoundary(lowered, from)) &&
				(digit === true || !isWordCharacter(lower.charAt(lower.length - 1)) || isBoundary(lowered, end))
			);
		case 'end':
			return !/[a-z]/.test(lowered.charAt(end));
		default:
			return true;
	}
};

/**
 * Creates a search for the tokens of several lists in one pass over a text. Its time depends on the text and not on the
 * number of tokens. It needs no preparation, while a regular expression of 1,500 alternatives takes 20 ms to compile on
 * the first page.
 * @returns for each list the name of its first token in the text, or null.
 */
export const createTokenSearch = <L extends string>(lists: Record<L, ListedToken[]>) => {
	const index = new Map<number, Entry<L>[]>();
	const names = Object.keys(lists) as L[];
	for (const list of names) {
		for (const [rank, listed] of lists[list].entries()) {
			const entry = {...listed, list, rank, lower: listed.token.toLowerCase()};
			const key = keyAt(entry.lower, 0);
			index.set(key, [...(index.get(key) ?? []), entry]);
		}
	}

	return (text: string): Record<L, string | null> => {
		const lowered = text.toLowerCase();
		const found = {} as Record<L, Entry<L> | undefined>;
		for (let at = 0; at <= lowered.length - KEY_LENGTH; at++) {
			for (const entry of index.get(keyAt(lowered, at)) ?? []) {
				const better = found[entry.list];
				if ((better === undefined || entry.rank < better.rank) && fits(entry, text, lowered, at)) {
					found[entry.list] = entry;
				}
			}
		}

		return Object.fromEntries(names.map((list) => [list, found[list]?.name ?? null])) as Record<L, string | null>;
	};
};

/**
 * `preview`: services that fetch pages to show a preview of a link. `search`: crawlers of search engines and AIs.
 * `robot`: any others, for SEO, monitoring, scanners, archives.
 */
type Crawlers = Record<'preview' | 'search' | 'robot', ListedToken[]>;

/** The form of `config/crawlers.json`. `words` detect unlisted robots in a User-Agent that matches none of `exceptions`. */
export type OwnLists = Crawlers & {
	words: Omit<Crawlers, 'search'>;
	exceptions: ListedToken[];
	/** Apps' own browsers. */
	inApp: ListedToken[];
	/** Patterns of the npm package that `config/kept-crawlers.json` omits, with the reasons; read when that file is generated. */
	excluded: Record<string, string>;
};

/**
 * The form of `config/kept-crawlers.json`, generated from an npm package: case-sensitive tokens, anchored at the start
 * if they begin with `^`.
 */
export type PackageLists = {source: string; licence: string} & Record<keyof Crawlers, string[]>;

const packageToken = (text: string): ListedToken => {
	const token = text.replace(/^\^/, '');
	const end = [...token].findLastIndex((character) => /[\w.)]/.test(character));
	const name = token.slice(Math.max(0, token.search(/\w/)), end + 1) || token;
	return {name, token, exact: true, ...(text.startsWith('^') ? {at: 'start'} : {})};
};

const compile = () => {
	const own = readConfigFile<OwnLists>('crawlers.json');
	const ofPackage = readConfigFile<PackageLists>('kept-crawlers.json');
	return createTokenSearch({
		preview: [...own.preview, ...ofPackage.preview.map(packageToken)],
		search: [...own.search, ...ofPackage.search.map(packageToken)],
		robot: [...own.robot, ...ofPackage.robot.map(packageToken)],
		previewWord: own.words.preview,
		robotWord: own.words.robot,
		exceptions: own.exceptions,
		inApp: own.inApp,
	});
};

let shipped: ReturnType<typeof compile> | undefined;

/** The names found in a User-Agent by the lists of `config`, which are read on first use; null if no line of a list matches. */
const listedIn = (userAgent: string) => {
	shipped ??= compile();
	const {preview, search, robot, inApp, previewWord, robotWord, exceptions} = shipped(userAgent);
	const isUnlisted = preview === null && search === null && robot === null && exceptions === null;
	return {
		preview: isUnlisted ? previewWord : preview,
		search,
		robot: isUnlisted ? robotWord : robot,
		inApp,
	};
};

/** The names in a User-Agent; the name of a phone makes it no robot. */
export const namedIn = (userAgent: string): ReturnType<typeof listedIn> => {
	const named = listedIn(userAgent);
	const isRobot = named.preview !== null || named.search !== null || named.robot !== null;
	return isRobot ? listedIn(withoutDevice(userAgent)) : named;
};
