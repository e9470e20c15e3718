import type {Confidence} from '../app-config/app-config.ts';
import {byLikeness, byNewest, type Candidate, isContender, isWithin, type Weighed, weigh} from './candidate.ts';
import {isSureEnoughForHigh} from './high-confidence.ts';
import type {GuessConfidence, GuessMethod, MatchPolicy} from './match-policy.ts';
import type {MatchSignals} from './match-signals.ts';

export type Guess = {method: GuessMethod; confidence: GuessConfidence; score: number; candidate: Candidate};

/** Why nothing matched (contract/match 11). */
export type MissReason =
	| 'no_click'
	| 'outside_window'
	| 'consumed'
	| 'ambiguous'
	| 'below_threshold'
	| 'ruled_out'
	| 'guesses_off'
	| 'below_minimum';

export type Weighing = {guess: Guess | null; reason: MissReason | null; weighed: Weighed[]};

export type Circumstances = {
	now: Date;
	/** A key has confined the candidates to one organization. */
	isConfined: boolean;
	/** Open clicks of the address within the time that `crowd` names, of all organizations. */
	openNearby: number;
};

const CONFIDENCE_ORDER: readonly Confidence[] = ['exact', 'high', 'medium', 'low'];

const reaches = (confidence: Confidence, minimum: Confidence): boolean =>
	CONFIDENCE_ORDER.indexOf(confidence) <= CONFIDENCE_ORDER.indexOf(minimum);

type Attempt = {winner: Weighed; confidence: GuessConfidence} | 'ambiguous' | 'below_threshold' | null;

const linksOf = (clicks: Weighed[]): Set<string> => new Set(clicks.map(({candidate}) => candidate.linkId));

/** Alike in everything, and nothing else is so for another link. */
const exactFingerprint = (clicks: Weighed[], eligible: Weighed[]): Attempt => {
	const [winner] = eligible.filter(({isExact}) => isExact).toSorted(byNewest);
	if (winner === undefined) {
		return null;
	}

	return linksOf(clicks.filter(({isExact}) => isExact)).size > 1 ? 'ambiguous' : {winner, confidence: 'high'};
};

/**
 * The best score, at a confidence that rivals, a crowd, and clicks of several organizations lower (contract/match 5).
 */
const scoredFingerprint = (
	clicks: Weighed[],
	eligible: Weighed[],
	{isConfined, openNearby}: Circumstances,
	{confidence, rivals, crowd, candidates}: MatchPolicy,
): Attempt => {
	const [winner] = eligible.toSorted(byLikeness);
	if (winner === undefined) {
		return null;
	}

	const level = confidence.findIndex(({from}) => winner.score >= from);
	if (level === -1) {
		return 'below_threshold';
	}

	const near = linksOf(clicks.filter(({score}) => score >= winner.score - rivals.margin));
	near.delete(winner.candidate.linkId);
	const organizations = new Set(clicks.map(({candidate}) => candidate.organizationId));
	const atAddress = clicks.filter(({candidate}) => candidate.nearness === 'ip').length;
	const isFull = Math.max(openNearby, atAddress) >= candidates;
	if (near.size > rivals.max || isFull) {
		return 'ambiguous';
	}

	const lowered = [near.size > 0, openNearby > crowd.clicks, !isConfined && organizations.size > 1];
	const reached = confidence[level + lowered.filter(Boolean).length];
	return reached === undefined ? 'ambiguous' : {winner, confidence: reached.level};
};

/** All that clicked from this address clicked one link. */
const sameAddress = (
	clicks: Weighed[],
	eligible: Weighed[],
	{openNearby}: Circumstances,
	{crowd}: MatchPolicy,
): Attempt => {
	const [winner] = eligible.toSorted(byNewest);
	if (winner === undefined) {
		return null;
	}

	return linksOf(clicks).size > 1 || openNearby > crowd.clicks ? 'ambiguous' : {winner, confidence: 'low'};
};

const reasonOf = (refusals: Set<MissReason>, weighed: Weighed[], {confidence}: MatchPolicy): MissReason => {
	const refusal = (['below_minimum', 'ambiguous'] as const).find((reason) => refusals.has(reason));
	if (refusal !== undefined) {
		return refusal;
	}

	// Otherwise the likeliest click tells.
	const [best] = weighed;
	if (best === undefined) {
		return 'no_click';
	}

	switch (best.ruledOut) {
		case null:
			return confidence.some(({from}) => best.score >= from) ? 'outside_window' : 'below_threshold';
		case 'consumed':
		case 'outside_window':
		case 'guesses_off':
			return best.ruledOut;
		default:
			return 'ruled_out';
	}
};

/**
 * Decides which of the clicks near an app's address it came from, if any, by the surest method that is sure enough
 * (contract/match 2 to 5), and at `high` only if nothing around the click keeps it from that. Clicks whose organization
 * allows no guesses never win, but they count as rivals.
 */
export const guessClick = (
	candidates: readonly Candidate[],
	app: MatchSignals,
	circumstances: Circumstances,
	policy: MatchPolicy,
): Weighing => {
	const weighed = candidates.map((one) => weigh(one, app, circumstances.now, policy)).toSorted(byLikeness);
	const contenders = weighed.filter(isContender);
	const within = (method: GuessMethod, clicks: Weighed[]) =>
		clicks.filter(({candidate}) => isWithin(candidate, circumstances.now, policy.windowSeconds[method]));
	const allowed = (clicks: Weighed[]) => clicks.filter(({ruledOut}) => ruledOut === null);
	const atAddress = contenders.filter(({candidate}) => candidate.nearness === 'ip');

	const exact = within('FINGERPRINT_EXACT', atAddress);
	const scored = within('FINGERPRINT_SCORED', contenders);
	const fuzzy = within('IP_FUZZY', atAddress);
	const attempts: Array<[GuessMethod, Attempt]> = [
		['FINGERPRINT_EXACT', exactFingerprint(exact, allowed(exact))],
		['FINGERPRINT_SCORED', scoredFingerprint(scored, allowed(scored), circumstances, policy)],
		['IP_FUZZY', sameAddress(fuzzy, allowed(fuzzy), circumstances, policy)],
	];
	const refusals = new Set<MissReason>();
	for (const [method, attempt] of attempts) {
		if (attempt === null) {
			continue;
		}

		if (typeof attempt === 'string') {
			refusals.add(attempt);
			continue;
		}

		const {winner} = attempt;
		const isLowered = attempt.confidence === 'high' && !isSureEnoughForHigh(winner, weighed, circumstances.now, policy);
		const confidence = isLowered ? 'medium' : attempt.confidence;
		if (!reaches(confidence, winner.candidate.rules.minimumConfidence)) {
			refusals.add('below_minimum');
			continue;
		}

		return {
			guess: {method, confidence, score: winner.score, candidate: winner.candidate},
			reason: null,
			weighed: [winner, ...weighed.filter((one) => one !== winner)],
		};
	}

	return {guess: null, reason: reasonOf(refusals, weighed, policy), weighed};
};
