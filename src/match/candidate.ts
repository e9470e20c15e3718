import type {Confidence} from '../app-config/app-config.ts';
import type {MatchPolicy} from './match-policy.ts';
import {type Contradiction, type Nearness, type Points, scoreClick} from './match-score.ts';
import type {MatchSignals} from './match-signals.ts';

/** What the click's organization allows (contract/match 10). */
export type MatchRules = {probabilisticMatching: boolean; minimumConfidence: Confidence};

/** A click near the app's address. */
export type Candidate = {
	id: string;
	organizationId: string;
	linkId: string;
	clickedAt: Date;
	/** When the link's own match window ends. */
	expiresAt: Date;
	nearness: Nearness;
	signals: MatchSignals;
	isConsumed: boolean;
	/** Whether its link resolves. */
	isLive: boolean;
	rules: MatchRules;
};

/** Why a candidate cannot win. */
export type RuledOut = Contradiction | 'consumed' | 'link_not_live' | 'outside_window' | 'guesses_off';

/** A candidate, and how like the app's phone its phone is. */
export type Weighed = {
	candidate: Candidate;
	score: number;
	points: Points;
	isExact: boolean;
	ruledOut: RuledOut | null;
};

/** Whether the click is at most so old, and its link's own window is open. */
export const isWithin = ({clickedAt, expiresAt}: Candidate, now: Date, seconds: number): boolean =>
	expiresAt > now && now.getTime() - clickedAt.getTime() <= seconds * 1000;

/** The newest first; of two at one time that with the higher id. */
export const byNewest = (one: Weighed, other: Weighed): number =>
	other.candidate.clickedAt.getTime() - one.candidate.clickedAt.getTime() ||
	(other.candidate.id > one.candidate.id ? 1 : -1);

const isContradicted = ({ruledOut}: Weighed): boolean =>
	ruledOut === 'platform' || ruledOut === 'device_model' || ruledOut === 'os_version';

/** Best first. What contradicts stands last, however alike the rest is. */
export const byLikeness = (one: Weighed, other: Weighed): number =>
	Number(isContradicted(one)) - Number(isContradicted(other)) || other.score - one.score || byNewest(one, other);

/** Whether it could win, or could but for its organization's wish: either way it is a rival of others. */
export const isContender = ({ruledOut}: Weighed): boolean => ruledOut === null || ruledOut === 'guesses_off';

/** How like the click's phone the app's is, and what rules the click out whatever the method. */
export const weigh = (candidate: Candidate, app: MatchSignals, now: Date, policy: MatchPolicy): Weighed => {
	const {nearness, clickedAt, signals} = candidate;
	const {score, points, contradiction, isExact} = scoreClick(signals, app, {nearness, clickedAt, now}, policy);
	const longest = Math.max(...Object.values(policy.windowSeconds));
	const ruledOut = ((): RuledOut | null => {
		if (contradiction !== null) {
			return contradiction;
		}

		if (candidate.isConsumed) {
			return 'consumed';
		}

		if (!candidate.isLive) {
			return 'link_not_live';
		}

		if (!isWithin(candidate, now, longest)) {
			return 'outside_window';
		}

		return candidate.rules.probabilisticMatching ? null : 'guesses_off';
	})();
	return {candidate, score, points, isExact, ruledOut};
};
