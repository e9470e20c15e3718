import {readConfigFile} from '../../platform/package-root.ts';
import {createTokenSearch, type ListedToken} from './token-search.ts';
import {withoutDevice} from './user-agent.ts';

/**
 * `preview`: services that fetch pages to show a preview of a link. `search`: crawlers of search engines and AIs.
 * `robot`: any others, for SEO, monitoring, scanners, archives.
 */
type Crawlers = Record<'preview' | 'search' | 'robot', ListedToken[]>;

/** The form of `config/crawlers.json`. `words` detect unlisted robots in a User-Agent without a line of `spared`. */
export type OwnLists = Crawlers & {
	words: Omit<Crawlers, 'search'>;
	spared: ListedToken[];
	/** Apps' own browsers. */
	inApp: ListedToken[];
	/** Patterns of the kept list that are excluded, and why; read by the build of the kept list. */
	notTaken: Record<string, string>;
};

/** The form of `config/kept-crawlers.json`: case-sensitive tokens, anchored at the start if they begin with `^`. */
export type KeptLists = {source: string; licence: string} & Record<keyof Crawlers, string[]>;

const keptToken = (text: string): ListedToken => {
	const token = text.replace(/^\^/, '');
	const end = [...token].findLastIndex((character) => /[\w.)]/.test(character));
	const name = token.slice(Math.max(0, token.search(/\w/)), end + 1) || token;
	return {name, token, exact: true, ...(text.startsWith('^') ? {at: 'start'} : {})};
};

const compile = () => {
	const own = readConfigFile<OwnLists>('crawlers.json');
	const kept = readConfigFile<KeptLists>('kept-crawlers.json');
	return createTokenSearch({
		preview: [...own.preview, ...kept.preview.map(keptToken)],
		search: [...own.search, ...kept.search.map(keptToken)],
		robot: [...own.robot, ...kept.robot.map(keptToken)],
		previewWord: own.words.preview,
		robotWord: own.words.robot,
		spared: own.spared,
		inApp: own.inApp,
	});
};

let shipped: ReturnType<typeof compile> | undefined;

/** The names found in a User-Agent by the lists of `config`, which are read on first use; null if no line of a list matches. */
const listedIn = (userAgent: string) => {
	shipped ??= compile();
	const {preview, search, robot, inApp, previewWord, robotWord, spared} = shipped(userAgent);
	const isUnlisted = preview === null && search === null && robot === null && spared === null;
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
