import {HOUR_MS} from '../../platform/clock.ts';
import {type Likeness, likenessOf} from './likeness.ts';
import {type Beliefs, matchPolicy} from './match-policy.ts';
import type {ClickChance, Neighbours, OpenAt, PossibleClick} from './phone-comparison.ts';
import {type ComparedClick, comparison, equalShare, lastClicksOf, neighboursOf, offsetsAt} from './phone-comparison.ts';

type Posterior = {
	/** The probability that no click led to the open. */
	nobody: number;
	/** The factor of every click because the open had no token; 1 if it had one. */
	tokenless: number;
	neighbours: Neighbours;
	/** By link: clicks of one link count together. */
	links: ReadonlyMap<string, number>;
	/** By click. */
	clicks: ReadonlyMap<string, ClickChance>;
};

const HOURS_OF_DAY = 24;

/** Density per hour of a log-normal time, of which half are below the median. */
const logNormal = (hours: number, medianMinutes: number, sigma: number): number => {
	const spread = Math.log(hours / (medianMinutes / 60)) / sigma;
	return Math.exp(-(spread ** 2) / 2) / (hours * sigma * Math.sqrt(2 * Math.PI));
};

/** Density of installation times per hour, for an installation `hours` after its click. */
const density = (hours: number, {medianMinutes, sigma, soon, day}: Beliefs['delay']): number => {
	const later = hours >= 1 && hours <= HOURS_OF_DAY ? day / (hours * Math.log(HOURS_OF_DAY)) : 0;
	return soon * logNormal(hours, medianMinutes, sigma) + later;
};

/**
 * The share of matched first opens of the app's platform that came like this one, with a token or without. If most
 * clicks leave a token, an open without one is evidence against all clicks.
 */
const tokenlessShare = ({app, phones, hasToken}: OpenAt, {tokenless}: Beliefs): number => {
	const same = phones.filter(({signals}) => app.platform === null || signals.platform === app.platform);
	const byGuess = tokenless + same.reduce((sum, one) => sum + one.byGuess, 0);
	return hasToken ? 1 : byGuess / (byGuess + same.reduce((sum, one) => sum + one.byToken, 0));
};

/** Whether no signal known on both sides speaks against a match. */
const isUnopposed = ({points, contradiction}: Likeness): boolean =>
	contradiction === null && Object.values(points).every((one) => one >= 0);

const ageOf = (clickedAt: Date, now: Date, {leastMinutes}: Beliefs): number =>
	Math.max(leastMinutes / 60, (now.getTime() - clickedAt.getTime()) / HOUR_MS);

/** The weight of a click alone, before newer clicks of the same person take a share. A click elsewhere has none. */
const weightOf = (
	click: PossibleClick,
	{likeness: {points}, tailShare}: ComparedClick,
	now: Date,
	beliefs: Beliefs,
) => {
	const {nearness} = click;
	if (nearness === 'elsewhere') {
		return 0;
	}

	const hours = ageOf(click.clickedAt, now, beliefs);
	const stays = beliefs.stays.find(({upToHours}) => hours <= upToHours)?.share ?? 0;
	const hereShare = nearness === 'ip' ? stays : beliefs.movesWithin * (1 - stays);
	const {unlike} = beliefs;
	const changed = points.timezone < 0 || points.osVersion < 0 ? (unlike.perDay * Math.max(1, hours)) / HOURS_OF_DAY : 1;
	const signalShare = beliefs.signalAccuracy * (points.language < 0 ? unlike.language : 1) * Math.min(1, changed);
	return (beliefs.installs * density(hours, beliefs.delay) * hereShare * signalShare) / tailShare;
};

/** Whether two clicks are of one browser but show different languages: one phone's browser shows one. */
const differsInLanguage = (one: PossibleClick, other: PossibleClick): boolean => {
	const [language, otherLanguage] = [one.signals.language, other.signals.language];
	return (
		one.browser !== null &&
		one.browser === other.browser &&
		language !== null &&
		otherLanguage !== null &&
		(language.language !== otherLanguage.language || language.region !== otherLanguage.region)
	);
};

/**
 * First opens per hour at the place without a click. They grow with the people active now, which the clicks of the last
 * hour show together with those of the day. The click that is weighed shows no other person.
 */
const organicRate = ({now, clicks, others, clicksLast24h}: OpenAt, {installs, organic}: Beliefs): number => {
	let [ofHour, ofDay] = [0, 0];
	for (const {nearness, clickedAt} of [...clicks, ...others]) {
		const age = now.getTime() - clickedAt.getTime();
		ofHour += Number(nearness !== 'elsewhere' && age < HOUR_MS);
		ofDay += Number(nearness !== 'elsewhere' && age < HOURS_OF_DAY * HOUR_MS);
	}

	// Only the number of consumed clicks is known; they are spread over the day.
	const usedPerHour = Math.max(0, clicksLast24h - Math.max(1, ofDay)) / HOURS_OF_DAY;
	const lastHour = Math.max(0, ofHour - 1) + usedPerHour;
	const hourly = Math.max(0, clicksLast24h - 1) / HOURS_OF_DAY;
	const clicksPerHour =
		(lastHour + organic.dayAsHours * hourly) / (1 + organic.dayAsHours) + organic.unseen / HOURS_OF_DAY;
	return ((installs * organic.share) / (1 - organic.share)) * clicksPerHour;
};

/** Oldest first; at the same time the lower id first. */
const byAge = (one: PossibleClick, other: PossibleClick): number =>
	one.clickedAt.getTime() - other.clickedAt.getTime() || (one.id < other.id ? -1 : 1);

/**
 * Computes, for each open click at a place, the probability that it led to this first open. The alternatives are the
 * other clicks and an installation without a click (`nobody`). A click's weight rises with the probability of an
 * installation at its age, and falls with the number of phones that resemble it as much. People install from their
 * latest click: a newer click that may be the same person's takes weight from an older one, all of it if a cookie shows
 * one visitor. Installations without a click happen near other clicks: at any hour, or within hours of being told.
 */
export const posterior = (open: OpenAt, beliefs: Beliefs = matchPolicy.beliefs): Posterior => {
	const {now, clicksLast24h} = open;
	const lastClicks = lastClicksOf(open, beliefs);
	const equal = equalShare(open, beliefs);
	const compareTo = comparison(open, beliefs, lastClicks, equal);
	const offsetOf = offsetsAt(now);
	const tokenless = tokenlessShare(open, beliefs);
	const clicks = open.clicks.toSorted(byAge).map((click) => {
		const compared = compareTo(click.signals);
		return {click, compared, weight: tokenless * weightOf(click, compared, now, beliefs)};
	});
	type WeightedClick = (typeof clicks)[number];
	const isOfVisitor = (one: WeightedClick, other: WeightedClick) =>
		one.click.visitor !== null && one.click.visitor === other.click.visitor;
	const mayBeTheSame = (one: WeightedClick, other: WeightedClick) =>
		other.click.nearness === 'ip' &&
		!differsInLanguage(one.click, other.click) &&
		isUnopposed(other.compared.likeness) &&
		isUnopposed(likenessOf(one.click.signals, other.click.signals, offsetOf));
	for (const [index, older] of clicks.entries()) {
		const newer = clicks.slice(index + 1);
		const own = newer.findLast((one) => isOfVisitor(older, one));
		const next = own ?? newer.findLast((one) => mayBeTheSame(older, one));
		if (next === undefined) {
			continue;
		}

		const taken = own === undefined ? 1 / (1 + Math.max(0, clicksLast24h - 1) * next.compared.tailShare) : 1;
		next.weight += older.weight * taken;
		older.weight *= 1 - taken;
	}

	const {delay, organic} = beliefs;
	const wordOfMouthAfter = (clickedAt: Date): number =>
		organic.wordOfMouth.share *
		logNormal(ageOf(clickedAt, now, beliefs), organic.wordOfMouth.medianMinutes, delay.sigma);
	const wordOfMouth = clicks
		.filter(({click}) => click.nearness !== 'elsewhere')
		.map(({click, compared: {tailShare}}) => wordOfMouthAfter(click.clickedAt) * (1 + equal * (1 / tailShare - 1)))
		.reduce((sum, one) => sum + one, 0);
	const withoutClick = organicRate(open, beliefs) + wordOfMouth;
	const [first, ...rest] = clicks;
	const likeliest = first && rest.reduce((best, one) => (one.weight > best.weight ? one : best), first);
	const all = clicks.reduce((sum, {weight}) => sum + weight, withoutClick);
	const links = new Map<string, number>();
	for (const {click, weight} of clicks) {
		links.set(click.linkId, (links.get(click.linkId) ?? 0) + weight / all);
	}

	return {
		nobody: withoutClick / all,
		tokenless,
		neighbours: likeliest ? neighboursOf(likeliest.click, likeliest.compared, lastClicks) : {seen: 0, equal: 0},
		links,
		clicks: new Map(
			clicks.map(({click, compared: {likeness, alike, compared}, weight}) => [
				click.id,
				{probability: weight / all, likeness, alike, compared},
			]),
		),
	};
};
