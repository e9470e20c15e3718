import type {Click, Open} from './events.ts';
import type {Answer, Matcher} from './matcher.ts';

export type Verdict =
	| 'right'
	| 'own other link'
	| "a stranger's link"
	| 'came without a click'
	| 'wrong tenant'
	| 'none';

export type Result = {open: Open; answer: Answer; verdict: Verdict};

/** A result with a link, right or wrong. */
export type Match = Result & {answer: Exclude<Answer, {click: null}>};

export const isMatch = (result: Result): result is Match => result.answer.click !== null;

const verdictOf = (open: Open, {click}: Answer): Verdict => {
	if (click === null) {
		return 'none';
	}

	if (click.organizationId !== open.organizationId) {
		return 'wrong tenant';
	}

	if (open.cause === null) {
		return 'came without a click';
	}

	if (click.linkId === open.cause.linkId) {
		return 'right';
	}

	return open.clicked.has(click.linkId) ? 'own other link' : "a stranger's link";
};

/** Plays the week to a product. @returns what became of each first open from `measuredFrom` on. */
export const replay = (events: ReadonlyArray<Click | Open>, measuredFrom: Date, matcher: Matcher): Result[] => {
	const results: Result[] = [];
	for (const event of events) {
		if (event.type === 'click') {
			matcher.record(event);
			continue;
		}

		const answer = matcher.match(event);
		if (event.at >= measuredFrom) {
			results.push({open: event, answer, verdict: verdictOf(event, answer)});
		}
	}

	return results;
};

export type Tally = {
	matches: number;
	right: number;
	wrongLink: number;
	withoutClick: number;
	wrongTenant: number;
	precision: number;
	/** Wilson's interval at 95 %. */
	interval: [low: number, high: number];
	/** Of the installs that a click led to. */
	recall: number;
};

export const wilson = (right: number, count: number): [low: number, high: number] => {
	if (count === 0) {
		return [0, 1];
	}

	const z = 1.959964;
	const share = right / count;
	const middle = (share + z ** 2 / (2 * count)) / (1 + z ** 2 / count);
	const half = (z / (1 + z ** 2 / count)) * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
};

/** @param isCounted which matches; recall is always of all deferred installs. */
export const tally = (results: Result[], isCounted: (result: Match) => boolean = () => true): Tally => {
	const matches = results.filter(isMatch).filter(isCounted);
	const count = (...verdicts: Verdict[]) => matches.filter(({verdict}) => verdicts.includes(verdict)).length;
	const right = count('right');
	const deferred = results.filter(({open}) => open.cause !== null).length;
	return {
		matches: matches.length,
		right,
		wrongLink: count('own other link', "a stranger's link"),
		withoutClick: count('came without a click'),
		wrongTenant: count('wrong tenant'),
		precision: matches.length === 0 ? 1 : right / matches.length,
		interval: wilson(right, matches.length),
		recall: deferred === 0 ? 0 : right / deferred,
	};
};
