import type {Candidate} from '../../src/match/candidate.ts';
import {guessClick} from '../../src/match/guess.ts';
import type {MatchPolicy} from '../../src/match/match-policy.ts';
import type {Nearness} from '../../src/match/match-score.ts';
import {createClickStore, type StoredClick} from './click-store.ts';
import type {Open} from './events.ts';
import type {Answer, Matcher, Mode} from './matcher.ts';

const RULES = {probabilisticMatching: true, minimumConfidence: 'low'} as const;

const candidateOf = ({click, signals, clickedAt, expiresAt}: StoredClick, nearness: Nearness): Candidate => ({
	id: click.id,
	organizationId: click.organizationId,
	linkId: click.linkId,
	clickedAt,
	expiresAt,
	nearness,
	signals,
	isConsumed: false,
	isLive: true,
	rules: RULES,
});

/** The server's match: its own rules over `createClickStore`, in the steps of `findMatch` and `weighNearby`. */
export const createOplink = (policy: MatchPolicy, {tokens, key}: Mode): Matcher => {
	const store = createClickStore();
	const before = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1000);

	const byToken = (open: Open): Answer | null => {
		for (const {method, clickId} of open.tokens) {
			const stored = store.findByToken(clickId);
			if (stored !== null && store.claim(stored, open.at)) {
				return {click: stored.click, method, confidence: 'exact', score: null};
			}
		}

		return null;
	};

	const byGuess = ({organizationId: own, keys, at: now, signals}: Open): Answer => {
		const organizationId = key ? own : null;
		const {candidates: limit, crowd, windowSeconds} = policy;
		const isConfined = organizationId !== null;
		const found = store.findOpenNear({key: 'ip', value: keys.ip, organizationId, limit}, now);
		const crowdSince = before(now, crowd.withinSeconds);
		const openNearby = store.findOpenNear(
			{key: 'ip', value: keys.ip, organizationId: null, since: crowdSince, limit},
			now,
		).length;
		const candidates = found.map((stored) => candidateOf(stored, 'ip'));
		const weigh = () => guessClick(candidates, signals, {now, isConfined, openNearby}, policy);
		let weighing = weigh();
		if (weighing.guess === null || weighing.guess.method === 'IP_FUZZY') {
			const since = before(now, windowSeconds.FINGERPRINT_SCORED);
			const known = new Set(found);
			const wider = store
				.findOpenNear({key: 'net', value: keys.net, organizationId, since, limit}, now)
				.filter((stored) => !known.has(stored));
			found.push(...wider);
			candidates.push(...wider.map((stored) => candidateOf(stored, 'network')));
			weighing = weigh();
		}

		const {guess, reason} = weighing;
		const winner = found.find(({click}) => click.id === guess?.candidate.id);
		if (guess === null || winner === undefined || !store.claim(winner, now)) {
			return {click: null, reason: reason ?? 'no_click'};
		}

		const {method, confidence, score} = guess;
		return {click: winner.click, method, confidence, score};
	};

	return {
		record: store.record,
		match: (open) => (tokens ? byToken(open) : null) ?? byGuess(open),
	};
};
