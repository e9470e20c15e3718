import type {Confidence} from '../../links/app-config/app-config.ts';
import type {ValueOf} from '../../platform/http/answer.ts';
import {byProbability, type Candidate, isWithin, ruledOutBy, type WeighedClick} from './candidate.ts';
import {likenessOf} from './likeness.ts';
import type {missReason} from './match-answer.ts';
import type {GuessConfidence, GuessMethod, MatchPolicy} from './match-policy.ts';
import type {MatchSignals} from './match-signals.ts';
import type {Neighbours, OpenAt} from './phone-comparison.ts';
import {offsetsAt} from './phone-comparison.ts';
import {posterior} from './posterior.ts';

export type Guess = {
	method: GuessMethod;
	confidence: GuessConfidence;
	/** The probability that the open came from a click on the link. */
	probability: number;
	score: number;
	candidate: Candidate;
};

export type MissReason = ValueOf<typeof missReason>;

export type Weighing = {
	guess: Guess | null;
	reason: MissReason | null;
	/** Best first. */
	weighed: WeighedClick[];
	/** Probability that no click led to the open. */
	nobody: number;
	/** The factor of every click because the open had no token. */
	tokenless: number;
	neighbours: Neighbours;
	/** All clicks of the place in the last 24 h. */
	clicksLast24h: number;
};

export type Circumstances = Pick<OpenAt, 'now' | 'clicksLast24h' | 'phones' | 'hasToken'> & {
	/** A key has confined the candidates to one organization. */
	isConfined: boolean;
};

const CONFIDENCE_ORDER: readonly Confidence[] = ['exact', 'high', 'medium', 'low'];

const reaches = (confidence: Confidence, minimum: Confidence): boolean =>
	CONFIDENCE_ORDER.indexOf(confidence) <= CONFIDENCE_ORDER.indexOf(minimum);

/** A probability as `matchScore` gives it. */
export const scoreOf = (probability: number): number => Math.round(probability * 100);

/** Whether a click could win, or could if its organization allowed guesses. Both compete with the other clicks. */
const isContender = ({ruledOut}: WeighedClick): boolean => ruledOut === null || ruledOut === 'guesses_off';

/** Whether signals besides the platform agree: an equal platform adds nothing to the address. */
const saysMoreThanPlatform = ({likeness: {sum, points}}: WeighedClick): boolean => sum > points.platform;

/** The method by which a click can win; null if it is too old for every method that its signals allow (contract/match 2). */
const methodOf = (
	one: WeighedClick,
	contenders: WeighedClick[],
	now: Date,
	{windowSeconds}: MatchPolicy,
): GuessMethod | null => {
	const isHere = ({candidate}: WeighedClick) => candidate.nearness !== 'network';
	const isExact = (other: WeighedClick) => isHere(other) && other.likeness.isExact;
	const isRecent = ({candidate}: WeighedClick) => isWithin(candidate, now, windowSeconds.IP_FUZZY);
	/** None of the others is on another link. */
	const isAlone = (among: WeighedClick[]) => among.every(({candidate}) => candidate.linkId === one.candidate.linkId);
	const allowed: Record<GuessMethod, boolean> = {
		FINGERPRINT_EXACT: isExact(one) && isAlone(contenders.filter(isExact)),
		FINGERPRINT_SCORED: saysMoreThanPlatform(one),
		IP_FUZZY: isHere(one) && isAlone(contenders.filter((other) => isHere(other) && isRecent(other))),
	};
	const methods: GuessMethod[] = ['FINGERPRINT_EXACT', 'FINGERPRINT_SCORED', 'IP_FUZZY'];
	return methods.find((method) => allowed[method] && isWithin(one.candidate, now, windowSeconds[method])) ?? null;
};

const missOf = ([best]: WeighedClick[], nobody: number): MissReason => {
	switch (best?.ruledOut) {
		case undefined:
			return 'no_click';
		case null:
			return nobody >= 0.5 ? 'below_threshold' : 'ambiguous';
		case 'blocked':
		case 'consumed':
		case 'outside_window':
		case 'guesses_off':
			return best.ruledOut;
		default:
			return 'ruled_out';
	}
};

/**
 * Chooses the click that led to a first open: one on the likeliest link, if its probability suffices (contract/match 2 to
 * 5). Clicks whose organization allows no guesses never win, but they compete with the others.
 */
export const guessClick = (
	candidates: readonly Candidate[],
	app: MatchSignals,
	{isConfined, ...circumstances}: Circumstances,
	policy: MatchPolicy,
): Weighing => {
	const {now, clicksLast24h} = circumstances;
	const offsetOf = offsetsAt(now);
	const compared = candidates.map((candidate) => {
		const likeness = likenessOf(candidate.signals, app, offsetOf);
		const ruledOut = ruledOutBy(candidate, likeness.contradiction, now, policy);
		return {candidate, ruledOut, likeness, probability: 0, alike: 0, compared: 0};
	});
	const contending = compared.filter(isContender).map(({candidate}) => candidate);
	const others = compared.map(({candidate}) => candidate).filter((one) => !one.isConsumed && !contending.includes(one));
	const open = {...circumstances, app, clicks: contending, others};
	const {clicks, links, nobody, tokenless, neighbours} = posterior(open, policy.beliefs);
	const weighed = compared.map((one) => ({...one, ...clicks.get(one.candidate.id)})).toSorted(byProbability);
	const contenders = weighed.filter(isContender);
	const missed = (reason: MissReason): Weighing => ({
		guess: null,
		reason,
		weighed,
		nobody,
		tokenless,
		neighbours,
		clicksLast24h,
	});

	const likelihood = ({candidate}: WeighedClick) => links.get(candidate.linkId) ?? 0;
	const [likeliest] = contenders.toSorted((one, other) => likelihood(other) - likelihood(one));
	if (likeliest === undefined || likelihood(likeliest) < (policy.confidence.at(-1)?.from ?? 1)) {
		return missed(missOf(weighed, nobody));
	}

	const isMixed = !isConfined && new Set(contenders.map(({candidate}) => candidate.organizationId)).size > 1;
	const winners = contenders.filter(({candidate}) => candidate.linkId === likeliest.candidate.linkId);
	const allowed = winners.filter(({ruledOut}) => ruledOut === null);
	const methodFor = (one: WeighedClick) => {
		const method = methodOf(one, contenders, now, policy);
		return isMixed && method === 'IP_FUZZY' ? null : method;
	};
	const winner = allowed.find((one) => methodFor(one) !== null);
	const method = winner === undefined ? null : methodFor(winner);
	if (winner === undefined || method === null) {
		const isRecent = isWithin(likeliest.candidate, now, policy.windowSeconds.IP_FUZZY);
		const unmet = links.size > 1 ? 'ambiguous' : 'below_threshold';
		return missed(allowed.length === 0 ? 'guesses_off' : isRecent ? unmet : 'outside_window');
	}

	const probability = likelihood(winner);
	const isOld = !isWithin(winner.candidate, now, policy.highWithinSeconds);
	const caps: GuessConfidence[] = [
		...(method === 'IP_FUZZY' || winner.candidate.nearness === 'network' ? (['low'] as const) : []),
		...(isMixed || isOld ? (['medium'] as const) : []),
	];
	const levels = policy.confidence.map(({level}) => level);
	const levelAt = (likely: number) => policy.confidence.findIndex(({from}) => likely >= from);
	// One level below the confidence with a key, which confines the open to the winner's organization.
	const lowered = (): number => {
		const {organizationId, linkId} = winner.candidate;
		const own = open.clicks.filter((click) => click.organizationId === organizationId);
		const likely = posterior({...open, clicks: own}, policy.beliefs).links.get(linkId) ?? 0;
		return 1 + Math.max(isOld ? levels.indexOf('medium') : 0, levelAt(likely));
	};
	const reached = Math.max(levelAt(probability), isMixed && method === 'FINGERPRINT_SCORED' ? lowered() : 0);
	const confidence = levels[Math.max(reached, ...caps.map((cap) => levels.indexOf(cap)))];
	if (confidence === undefined) {
		return missed('ambiguous');
	}

	if (!reaches(confidence, winner.candidate.rules.minimumConfidence)) {
		return missed('below_minimum');
	}

	return {
		guess: {method, confidence, probability, score: scoreOf(probability), candidate: winner.candidate},
		reason: null,
		weighed: [winner, ...weighed.filter((one) => one !== winner)],
		nobody,
		tokenless,
		neighbours,
		clicksLast24h,
	};
};
