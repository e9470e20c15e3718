import type {Confidence} from '../../links/app-config/app-config.ts';
import type {Contradiction} from './likeness.ts';
import type {CandidateTrace} from './match-attempt-store.ts';
import type {MatchPolicy} from './match-policy.ts';
import type {ClickChance, PossibleClick} from './phone-comparison.ts';

/** The matching rules of the click's organization (contract/match 10). */
export type MatchRules = {probabilisticMatching: boolean; minimumConfidence: Confidence};

/** A click near the app's address. */
export type Candidate = PossibleClick & {
	organizationId: string;
	/** When the link's own match window ends. */
	expiresAt: Date;
	isConsumed: boolean;
	/** Whether its link resolves. */
	isLive: boolean;
	/** Whether an operator or a list blocks its link. */
	isBlocked: boolean;
	/** Whether it came through iCloud Private Relay, whose addresses many people share. */
	isRelay: boolean;
	rules: MatchRules;
};

/** Why a candidate cannot win. */
export type RuledOut = NonNullable<CandidateTrace['ruledOut']>;

/** A candidate, and the probability that the app's first open came from it; 0 if it is ruled out. */
export type WeighedClick = ClickChance & {candidate: Candidate; ruledOut: RuledOut | null};

/** Whether the click is within this age and its link's own window. */
export const isWithin = ({clickedAt, expiresAt}: Candidate, now: Date, seconds: number): boolean =>
	expiresAt > now && now.getTime() - clickedAt.getTime() <= seconds * 1000;

/** Best first, contradictions last; at equal probability the more alike, then the newer, then the higher id. */
export const byProbability = (one: WeighedClick, other: WeighedClick): number =>
	Number(one.likeness.contradiction !== null) - Number(other.likeness.contradiction !== null) ||
	other.probability - one.probability ||
	other.likeness.sum - one.likeness.sum ||
	other.candidate.clickedAt.getTime() - one.candidate.clickedAt.getTime() ||
	(other.candidate.id > one.candidate.id ? 1 : -1);

/** The reason that rules a click out for every method; null if there is none. */
export const ruledOutBy = (
	candidate: Candidate,
	contradiction: Contradiction | null,
	now: Date,
	{windowSeconds}: Pick<MatchPolicy, 'windowSeconds'>,
): RuledOut | null => {
	if (contradiction !== null) {
		return contradiction;
	}

	if (candidate.isBlocked) {
		return 'blocked';
	}

	if (candidate.isConsumed) {
		return 'consumed';
	}

	if (!candidate.isLive) {
		return 'link_not_live';
	}

	if (!isWithin(candidate, now, Math.max(...Object.values(windowSeconds)))) {
		return 'outside_window';
	}

	// A click with nearness `elsewhere` was found by its visitor, not by its address.
	if (candidate.isRelay && candidate.nearness !== 'elsewhere') {
		return 'relay';
	}

	return candidate.rules.probabilisticMatching ? null : 'guesses_off';
};
