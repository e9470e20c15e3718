import {type Finding, findingsOf} from '../../operations/finding.ts';
import type {AndroidApp, Filter, PathRule} from './declared-app.ts';
import type {Host} from './expected-app.ts';
import {filledInFinding, isPlaceholder, placeText} from './source-position.ts';

/** A part of a pattern: a set of characters, repeated `least` to `most` times. It matches greedily, without backtracking. */
type Run = {fits: (character: string) => boolean; least: number; most: number};

const ANY = Number.POSITIVE_INFINITY;

const fitsOne =
	(wanted: string): Run['fits'] =>
	(character) =>
		wanted === '.' || character === wanted;

/** `pathPattern`: `.` is any character, `*` repeats the one before, and `.*` stops before the next one first occurs. */
const simpleRuns = (text: string): Run[] => {
	const units = [...text.matchAll(/(\\?)(.)(\*?)/gs)].map(([, backslash, one = '', star]) => ({backslash, one, star}));
	return units.map(({backslash, one, star}, index) => {
		const next = units[index + 1]?.one;
		const isGap = star !== '' && one === '.' && backslash === '' && next !== undefined;
		return {
			fits: isGap ? (character) => character !== next : fitsOne(one),
			least: star === '' ? 1 : 0,
			most: star === '' ? 1 : ANY,
		};
	});
};

/** The characters of a set such as `^a-z_`, each alone or a range. */
const fitsSet = (set: readonly string[]): Run['fits'] => {
	const isNegated = set[0] === '^';
	const items = isNegated ? set.slice(1) : set;
	const ranges: Array<[from: string, to: string]> = [];
	for (let index = 0; index < items.length; index += 1) {
		const [from = '', dash, to] = items.slice(index, index + 3);
		const isRange = dash === '-' && to !== undefined;
		ranges.push([from.slice(-1), (isRange ? to : from).slice(-1)]);
		index += isRange ? 2 : 0;
	}

	return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== isNegated;
};

/** The bounds of `*`, `+` or the inside of `{n,m}`; null for anything else. */
const boundsOf = (sign: string, inside: string): Pick<Run, 'least' | 'most'> | null => {
	if (sign !== '{') {
		return {least: sign === '+' ? 1 : 0, most: ANY};
	}

	const [least = '', most = least] = inside.split(',', 2);
	return /^\d+$/.test(least) && /^\d*$/.test(most)
		? {least: Number(least), most: most === '' ? ANY : Number(most)}
		: null;
};

/** `pathAdvancedPattern`: also sets of characters, and `+` and `{n,m}` as repetitions; null for an invalid one. */
const advancedRuns = (text: string): Run[] | null => {
	// An escaped character is one unit with its backslash.
	const units = [...text.matchAll(/\\.|./gs)].map(([unit]) => unit);
	const runs: Run[] = [];
	for (let index = 0; index < units.length; index += 1) {
		const unit = units[index] ?? '';
		const end = unit === '[' ? units.indexOf(']', index) : unit === '{' ? units.indexOf('}', index) : index;
		const inside = units.slice(index + 1, end);
		if (['*', '+', '{'].includes(unit)) {
			const [repeated, bounds] = [runs.pop(), boundsOf(unit, inside.join(''))];
			if (repeated === undefined || bounds === null) {
				return null;
			}

			runs.push({...repeated, ...bounds});
		} else {
			const isEscaped = unit.length > 1;
			const fits = isEscaped ? (character: string) => character === unit.slice(1) : fitsOne(unit);
			runs.push({fits: unit === '[' ? fitsSet(inside) : fits, least: 1, most: 1});
		}

		if (end < 0) {
			return null;
		}

		index = end;
	}

	return runs;
};

const matches = (runs: readonly Run[], path: string): boolean => {
	let at = 0;
	for (const {fits, least, most} of runs) {
		let count = 0;
		while (count < most && at < path.length && fits(path.charAt(at))) {
			at += 1;
			count += 1;
		}

		if (count < least) {
			return false;
		}
	}

	return at === path.length;
};

/** Whether a rule lets a path through, as Android's `PatternMatcher` decides; an invalid pattern lets none. */
const pathMatcher = ({kind, text: written}: PathRule): ((path: string) => boolean) => {
	// The Android build reads `\\` as `\`.
	const text = written.replaceAll('\\\\', '\\');
	switch (kind) {
		case 'path':
			return (path) => path === text;
		case 'pathPrefix':
			return (path) => path.startsWith(text);
		case 'pathSuffix':
			return (path) => path.endsWith(text);
		default: {
			const runs = kind === 'pathPattern' ? simpleRuns(text) : advancedRuns(text);
			return (path) => runs !== null && matches(runs, path);
		}
	}
};

const {ok, warn, fail} = findingsOf('Android');

/** At most this many rules, and characters of a rule, are compared: real filters have a few, and each is tried with many paths. */
const MAX_RULES = 1000;
const MAX_CHARACTERS = 1000;

const ALPHANUMERIC = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const CHARACTERS = [...ALPHANUMERIC, '-', '_'];

/** Codes with each character that one may have, and of the least and the greatest length. */
const CODES = [...CHARACTERS, CHARACTERS.join(''), 'aB3dE6f'];

const ownPaths = ({isShared}: Host, orgKey: string): string[] =>
	(isShared ? [`/${orgKey}/`] : ['/', `/${orgKey}/`]).flatMap((prefix) => CODES.map((code) => prefix + code));

/** Paths of links of those organizations whose orgKey differs in one character. */
const otherPaths = (orgKey: string): string[] =>
	[...orgKey].flatMap((own, index) =>
		ALPHANUMERIC.filter((character) => character !== own).map(
			(character) => `/${orgKey.slice(0, index)}${character}${orgKey.slice(index + 1)}/aB3dE6f`,
		),
	);

/**
 * The finding for the paths of a host's filters, which are otherwise right. One without a rule lets every path through.
 */
export const pathFinding = (
	filters: readonly Filter[],
	host: Host,
	{orgKey, kit}: {orgKey: string; kit: AndroidApp['kit']},
): Finding => {
	const prefix = host.isShared ? `/${orgKey}/` : '/';
	const ofPlugin = kit === 'expo' ? `Write ${host.name}/${orgKey} in the plugin's links, or set` : 'Set';
	const narrow = `${ofPlugin} pathPrefix ${prefix} in a filter for ${host.name} alone`;
	const rules = filters.flatMap(({paths, place}): PathRule[] =>
		paths.length === 0 ? [{kind: 'pathPrefix', text: '', place}] : paths,
	);
	const known = rules
		.filter(({text}) => !isPlaceholder(text) && text.length <= MAX_CHARACTERS)
		.slice(0, MAX_RULES)
		.map(({place, ...rule}) => ({place, matches: pathMatcher({place, ...rule})}));
	const own = ownPaths(host, orgKey);
	const others = host.isShared ? otherPaths(orgKey) : [];
	const wide = known.find(({matches}) => own.some(matches) && others.some(matches));
	if (wide !== undefined) {
		const at = placeText(wide.place);
		return fail('android.path', `the app also opens other organizations' links on ${host.name} (${at})`, narrow);
	}

	const [first] = rules;
	const at = placeText(first?.place ?? {file: ''});
	if (own.every((path) => known.some(({matches}) => matches(path)))) {
		const group = filters.find((filter) => filter.group !== null)?.group ?? null;
		return group === null
			? ok('android.host', `links on ${host.name} open the app (${placeText(filters[0]?.place ?? {file: ''})})`)
			: warn(
					'android.path',
					`the filter for ${host.name} has a uri-relative-filter-group, which is not compared (${placeText(group)})`,
					`Check that it lets every path below ${prefix} through`,
				);
	}

	const filledIn = rules.find(({text}) => isPlaceholder(text));
	if (filledIn !== undefined) {
		const what = `whether links below ${prefix} on ${host.name} open the app depends on ${filledIn.kind}`;
		return filledInFinding('Android', 'android.path', what, filledIn);
	}

	const message = `links below ${prefix} on ${host.name} do not open the app: its filter has ${first?.kind} ${first?.text} (${at})`;
	return host.isShared
		? fail('android.path', message, narrow)
		: warn(
				'android.path',
				message,
				'Give the host a filter of its own without paths, if all its links are for the app',
			);
};
