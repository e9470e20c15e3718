import {utcOffset} from '../../platform/timezone.ts';
import type {Likeness} from './likeness.ts';
import {likenessOf, type Offsets} from './likeness.ts';
import type {Beliefs} from './match-policy.ts';
import type {MatchSignals} from './match-signals.ts';

/**
 * The place of a click: the address of the open, its network, or `elsewhere`, which counts only as a later click of a
 * visitor with a click here.
 */
export type Nearness = 'ip' | 'network' | 'elsewhere';

/** An open click that nothing rules out. */
export type PossibleClick = {
	id: string;
	linkId: string;
	clickedAt: Date;
	signals: MatchSignals;
	/** The name of its browser; null if unknown. */
	browser: string | null;
	nearness: Nearness;
	/** The visitor by cookie; null if unknown. */
	visitor: string | null;
};

/**
 * The evidence of a first open on equal phones at one place. `seen`: 1 with another person's click there, else 0.
 * `equal`: the share of such clicks that are alike, less the share expected by chance.
 */
export type Neighbours = {seen: number; equal: number};

/** A kind of phone among an organization's recent first opens: how many there were, and how many of them matched. */
export type PhoneCount = {
	signals: MatchSignals;
	count: number;
	byToken: number;
	byGuess: number;
	/** The sum of the evidence of these first opens. */
	neighbours: Neighbours;
};

export type OpenAt = {
	now: Date;
	/** The signals that the app reports. */
	app: MatchSignals;
	clicks: readonly PossibleClick[];
	/** Open clicks that are ruled out; their phones show how alike the phones of the place are. */
	others: readonly PossibleClick[];
	/** All clicks of the place in the last 24 h, open or used. */
	clicksLast24h: number;
	/** The organization's recent first opens, without this one. */
	phones: readonly PhoneCount[];
	/** Whether the app sent a token, of any click. */
	hasToken: boolean;
};

/** The comparison of a click's phone with the app's, and with others. */
export type ClickChance = {
	/** The probability that the open came from this click. */
	probability: number;
	likeness: Likeness;
	/** Of `compared` phones, how many resemble the click at least as much as the app's phone does. */
	alike: number;
	compared: number;
};

/** Offsets of zones at a time, each computed once. */
export const offsetsAt = (now: Date): Offsets => {
	const known = new Map<string, string | null>();
	return (timezone) => {
		const offset = known.has(timezone) ? known.get(timezone) : utcOffset(timezone, now);
		known.set(timezone, offset ?? null);
		return offset ?? null;
	};
};

const total = (phones: readonly PhoneCount[]): number => phones.reduce((sum, {count}) => sum + count, 0);

const isOtherPlatform = ({platform}: MatchSignals, other: MatchSignals): boolean =>
	platform !== null && other.platform !== null && platform !== other.platform;

/** A click's phone beside the app's, and how common such phones are. */
export type ComparedClick = Omit<ClickChance, 'probability'> & {
	tailShare: number;
	share: number;
	isAlike: (phone: {signals: MatchSignals}) => boolean;
};

/** The share of people at one place with an equal phone, as far as the organization's recent first opens show it. */
export const equalShare = ({phones}: OpenAt, {organic: {equal, equalOpens}}: Beliefs): number => {
	let [seen, found] = [equalOpens, equalOpens * equal];
	for (const {neighbours} of phones) {
		seen += neighbours.seen;
		found += neighbours.equal;
	}

	return Math.min(0.9, Math.max(0.01, found / seen));
};

/** The newest clicks of the address itself, whatever their phones. */
export const lastClicksOf = ({clicks, others}: OpenAt, {organic: {shown}}: Beliefs): PossibleClick[] =>
	[...clicks, ...others]
		.filter(({nearness}) => nearness === 'ip')
		.toSorted((one, other) => other.clickedAt.getTime() - one.clickedAt.getTime())
		.slice(0, shown);

/**
 * How common phones are that resemble a click at least as much as the app's phone. The organization's phones of the
 * app's timezone are counted; if they are few, phones of its other zones are added, and if those are few, published
 * shares. Families and companies have equal phones: the last clicks of the place, except those of the same visitor,
 * show whether more are alike than by chance. Computed once per distinct set of signals.
 */
export const comparison = (
	{app, now, phones}: OpenAt,
	{general}: Beliefs,
	lastClicks: PossibleClick[],
	equal: number,
) => {
	const offsetOf = offsetsAt(now);
	const isOfZone = ({signals}: PhoneCount): boolean => app.timezone !== null && signals.timezone === app.timezone;
	const ofZone = phones.filter(isOfZone);
	const otherZones = phones
		.filter((phone) => !isOfZone(phone))
		.map((phone) => ({...phone, signals: {...phone.signals, timezone: phone.signals.timezone && app.timezone}}));
	const beside = Math.max(0, lastClicks.length - 1);
	const known = new Map<string, ComparedClick>();
	return (signals: MatchSignals): ComparedClick => {
		const key = JSON.stringify(signals);
		const before = known.get(key);
		if (before !== undefined) {
			return before;
		}

		const likeness = likenessOf(signals, app, offsetOf);
		const isAlike = (phone: {signals: MatchSignals}): boolean => {
			// Half of the phones need no further comparison.
			if (isOtherPlatform(signals, phone.signals)) {
				return false;
			}

			const other = likenessOf(signals, phone.signals, offsetOf);
			return other.contradiction === null && other.sum >= likeness.sum;
		};
		const [alikeOfZone, alikeOfOtherZones] = [total(ofZone.filter(isAlike)), total(otherZones.filter(isAlike))];
		const expected = (alikeOfOtherZones + general * likeness.share) / (total(otherZones) + general);
		const share = (alikeOfZone + general * expected) / (total(ofZone) + general);
		const more = Math.max(0, lastClicks.filter(isAlike).length - 2 - beside * share);
		const twins = (equal + more) / (1 + beside);
		const result = {
			likeness,
			alike: alikeOfZone + alikeOfOtherZones,
			compared: total(phones),
			tailShare: twins + (1 - twins) * share,
			share,
			isAlike,
		};
		known.set(key, result);
		return result;
	};
};

/**
 * How many of the last clicks by certainly other people are as alike as the likeliest one. A browser has one cookie: two
 * clicks of one browser with different cookies are of two phones.
 */
export const neighboursOf = (
	likeliest: PossibleClick,
	{share, isAlike}: ComparedClick,
	lastClicks: PossibleClick[],
): Neighbours => {
	const {browser, visitor} = likeliest;
	const others = lastClicks.filter(
		(one) =>
			browser !== null &&
			one.browser === browser &&
			visitor !== null &&
			one.visitor !== null &&
			one.visitor !== visitor &&
			one.signals.platform !== 'desktop',
	);
	return others.length === 0
		? {seen: 0, equal: 0}
		: {seen: 1, equal: others.filter(isAlike).length / others.length - share};
};
