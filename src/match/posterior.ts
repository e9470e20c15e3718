import {utcOffset} from '../timezone.ts';
import {type Likeness, likenessOf, type Offsets} from './likeness.ts';
import {type Beliefs, matchPolicy} from './match-policy.ts';
import type {MatchSignals} from './match-signals.ts';

/**
 * Where a click was: at the address of the open, only in its network, or `elsewhere`, where it counts only as the later
 * tap of a visitor who also tapped here.
 */
export type Nearness = 'ip' | 'network' | 'elsewhere';

/** An open click that nothing rules out. */
export type PossibleClick = {
	id: string;
	linkId: string;
	clickedAt: Date;
	signals: MatchSignals;
	nearness: Nearness;
	/** Who tapped, by cookie; null where that is unknown. */
	visitor: string | null;
};

/** A kind of phone among an organization's recent first opens, and how many there were. */
export type PhoneCount = {signals: MatchSignals; count: number};

export type OpenAt = {
	now: Date;
	/** What the app says of its phone. */
	app: MatchSignals;
	clicks: readonly PossibleClick[];
	/** All clicks of the place in the last 24 h, open or used. */
	made: number;
	/** The organization's recent first opens, without this one. */
	phones: readonly PhoneCount[];
};

/** How a click's phone and the app's compare, beside others. */
export type ClickChance = {
	/** That the open came from this click. */
	probability: number;
	likeness: Likeness;
	/** Of `compared` phones, how many resemble the click at least as much as the app's phone does. */
	alike: number;
	compared: number;
};

export type Posterior = {
	/** That nobody's click led to the open. */
	nobody: number;
	/** By link: clicks of one link count together. */
	links: ReadonlyMap<string, number>;
	/** By click. */
	clicks: ReadonlyMap<string, ClickChance>;
};

const HOUR_MS = 3600 * 1000;
const HOURS_OF_DAY = 24;

/** Density of install times per hour: how likely an install that will happen is to happen `hours` after its tap. */
const density = (hours: number, {medianMinutes, sigma, soon, day}: Beliefs['delay']): number => {
	const spread = Math.log(hours / (medianMinutes / 60)) / sigma;
	const logNormal = Math.exp(-(spread ** 2) / 2) / (hours * sigma * Math.sqrt(2 * Math.PI));
	const later = hours >= 1 && hours <= HOURS_OF_DAY ? day / (hours * Math.log(HOURS_OF_DAY)) : 0;
	return soon * logNormal + later;
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

type Compared = Omit<ClickChance, 'probability'> & {asLike: number};

/** How common phones are that resemble a click at least as much as the app's. Computed once per distinct set of signals. */
const comparison = ({app, now, phones}: OpenAt, {leastOfZone, general}: Beliefs) => {
	const offsetOf = offsetsAt(now);
	const ofZone = phones.filter(({signals}) => app.timezone !== null && signals.timezone === app.timezone);
	const others = total(ofZone) >= leastOfZone ? ofZone : phones;
	const compared = total(others);
	const known = new Map<string, Compared>();
	return (signals: MatchSignals): Compared => {
		const key = JSON.stringify(signals);
		const before = known.get(key);
		if (before !== undefined) {
			return before;
		}

		const likeness = likenessOf(signals, app, offsetOf);
		const alike = total(
			others.filter((phone) => {
				const other = likenessOf(signals, phone.signals, offsetOf);
				return other.contradiction === null && other.sum >= likeness.sum;
			}),
		);
		const asLike = (1 + alike + general * likeness.share) / (1 + compared + general);
		const result = {likeness, alike, compared, asLike};
		known.set(key, result);
		return result;
	};
};

/** Whether no signal known on both sides speaks against a match. */
const isUnopposed = ({points, contradiction}: Likeness): boolean =>
	contradiction === null && Object.values(points).every((one) => one >= 0);

/** The weight of a click by itself, before newer ones of the same person take a share. A click elsewhere has none. */
const weightOf = ({clickedAt, nearness}: PossibleClick, {likeness, asLike}: Compared, now: Date, believed: Beliefs) => {
	if (nearness === 'elsewhere') {
		return 0;
	}

	const hours = Math.max(believed.leastMinutes / 60, (now.getTime() - clickedAt.getTime()) / HOUR_MS);
	const stays = believed.stays.find(({upToHours}) => hours <= upToHours)?.share ?? 0;
	const hereShare = nearness === 'ip' ? stays : believed.movesWithin;
	const toldShare = believed.toldShare * (likeness.sum < 0 ? believed.unlike : 1);
	return (believed.installs * density(hours, believed.delay) * hereShare * toldShare) / asLike;
};

/** Oldest first; of two at one time that with the lower id. */
const byAge = (one: PossibleClick, other: PossibleClick): number =>
	one.clickedAt.getTime() - other.clickedAt.getTime() || (one.id < other.id ? -1 : 1);

/**
 * Computes, for each open click at a place, the probability that it led to this first open. The alternatives are the
 * other clicks and an install without a tap (`nobody`). A click weighs more the likelier an install is at its age, and
 * less the more phones resemble it as much. People install from their latest tap. So a newer click that may be the same
 * person's takes weight from an older one: all of it if a cookie shows one visitor.
 */
export const posterior = (open: OpenAt, believed: Beliefs = matchPolicy.beliefs): Posterior => {
	const {now, made} = open;
	const compareTo = comparison(open, believed);
	const offsetOf = offsetsAt(now);
	const clicks = open.clicks.toSorted(byAge).map((click) => {
		const compared = compareTo(click.signals);
		return {click, compared, weight: weightOf(click, compared, now, believed)};
	});
	type One = (typeof clicks)[number];
	const isOfVisitor = (one: One, other: One) => one.click.visitor !== null && one.click.visitor === other.click.visitor;
	const mayBeTheSame = (one: One, other: One) =>
		other.click.nearness === 'ip' &&
		isUnopposed(other.compared.likeness) &&
		isUnopposed(likenessOf(one.click.signals, other.click.signals, offsetOf));
	for (const [index, older] of clicks.entries()) {
		const newer = clicks.slice(index + 1);
		const own = newer.findLast((one) => isOfVisitor(older, one));
		const next = own ?? newer.findLast((one) => mayBeTheSame(older, one));
		if (next === undefined) {
			continue;
		}

		const taken = own === undefined ? 1 / (1 + Math.max(0, made - 2) * next.compared.asLike) : 1;
		next.weight += older.weight * taken;
		older.weight *= 1 - taken;
	}

	const nobody = believed.organic.always + believed.organic.perClick * Math.max(0, made - 1);
	const all = clicks.reduce((sum, {weight}) => sum + weight, nobody);
	const links = new Map<string, number>();
	for (const {click, weight} of clicks) {
		links.set(click.linkId, (links.get(click.linkId) ?? 0) + weight / all);
	}

	return {
		nobody: nobody / all,
		links,
		clicks: new Map(
			clicks.map(({click, compared: {likeness, alike, compared}, weight}) => [
				click.id,
				{probability: weight / all, likeness, alike, compared},
			]),
		),
	};
};
