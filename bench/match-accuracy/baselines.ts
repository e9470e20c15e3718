import {createClickStore, type StoredClick} from './click-store.ts';
import type {Open} from './events.ts';
import type {Answer, Matcher, Mode} from './matcher.ts';

const LIMIT = 10_000;

/** A rule that chooses among open clicks of the same address or network, given newest first. */
type Rule = {near: 'ip' | 'net'; seconds: number; choose: (open: Open, clicks: StoredClick[]) => StoredClick | null};

const createBaseline = ({near, seconds, choose}: Rule, {tokens, key}: Mode): Matcher => {
	const store = createClickStore();
	const match = (open: Open): Answer => {
		for (const {method, clickId} of tokens ? open.tokens : []) {
			const proven = store.findByToken(clickId);
			if (proven !== null && store.claim(proven, open.at)) {
				return {click: proven.click, method, confidence: 'exact', score: null};
			}
		}

		const {at: now, keys, organizationId} = open;
		const since = new Date(now.getTime() - seconds * 1000);
		const wanted = {key: near, value: keys[near], organizationId: key ? organizationId : null, since, limit: LIMIT};
		const chosen = choose(open, store.findOpenNear(wanted, now));
		if (chosen === null || !store.claim(chosen, now)) {
			return {click: null, reason: 'no match'};
		}

		return {click: chosen.click, method: 'IP_FUZZY', confidence: null, score: null};
	};
	return {record: store.record, match};
};

/** Whoever clicked last from the address. @param seconds how long a click waits. */
export const createNewestOfAddress = (seconds: number, mode: Mode): Matcher =>
	createBaseline({near: 'ip', seconds, choose: (_, [newest]) => newest ?? null}, mode);

const POINTS = {network: 40, userAgent: 30, timezone: 10, language: 10, screen: 10};
const THRESHOLD = 70;
const WEEK = 168 * 3600;

/** The words that its rules keep of a User-Agent: the first of each list that stands in it. */
const familyOf = (userAgent: string): string =>
	[/iPhone|iPad|Android|Windows|Macintosh|Linux/i, /Chrome|Safari|Firefox|Edge|Opera/i]
		.map((words) => words.exec(userAgent)?.[0].toLowerCase() ?? '')
		.join('|');

/** Its SDKs do not say what they send; the platform's own browser is the best that they could. */
const familyOfApp = {ios: 'iphone|safari', android: 'android|chrome'};

const pointsOf = ({raw: app}: Open, {click: {raw}}: StoredClick): number => {
	const primary = (language: string) => language.slice(0, 2).toLowerCase();
	const isAlike = {
		network: true,
		userAgent: familyOf(raw.userAgent) === familyOfApp[app.platform],
		timezone: raw.timezone === app.timezone,
		language: raw.language !== null && primary(raw.language) === primary(app.language),
		screen: raw.screen?.width === app.screen.width && raw.screen.height === app.screen.height,
	};
	return (Object.keys(POINTS) as Array<keyof typeof POINTS>).reduce(
		(total, signal) => total + (isAlike[signal] ? POINTS[signal] : 0),
		0,
	);
};

/** Points for likeness; the best click from the threshold on, the newest of equals. */
export const createWeighted = (mode: Mode): Matcher =>
	createBaseline(
		{
			near: 'net',
			seconds: WEEK,
			choose: (open, clicks) => {
				const scored = clicks.map((stored) => ({stored, points: pointsOf(open, stored)}));
				const best = scored.reduce<(typeof scored)[number] | null>(
					(leader, one) => (one.points >= THRESHOLD && one.points > (leader?.points ?? 0) ? one : leader),
					null,
				);
				return best?.stored ?? null;
			},
		},
		mode,
	);
