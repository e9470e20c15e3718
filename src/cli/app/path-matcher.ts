import type {PathRule} from './android-app.ts';

/** A part of a pattern: characters of a kind, as many as there are up to a number. None is given back. */
type Run = {fits: (character: string) => boolean; least: number; most: number};

const ANY = Number.POSITIVE_INFINITY;

const fitsOne =
	(wanted: string): Run['fits'] =>
	(character) =>
		wanted === '.' || character === wanted;

/** `pathPattern`: `.` is any character, `*` repeats the one before, and `.*` ends at the first of the character after it. */
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
export const pathMatcher = ({kind, text: written}: PathRule): ((path: string) => boolean) => {
	// The build reads one backslash of two.
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
