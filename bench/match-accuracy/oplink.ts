import type {Candidate} from '../../src/match/candidate.ts';
import {guessClick} from '../../src/match/guess.ts';
import {matchPolicy} from '../../src/match/match-policy.ts';
import type {Nearness} from '../../src/match/match-score.ts';
import type {MatchSignals} from '../../src/match/match-signals.ts';
import {createClickStore, type Stored} from './click-store.ts';
import {readClick, readOpen} from './reading.ts';
import type {Open} from './story.ts';
import type {Answer, Matcher, Mode} from './tally.ts';

const RULES = {probabilisticMatching: true, minimumConfidence: 'low'} as const;
const WINDOW_MS = 168 * 3600_000;

const candidateOf = ({click, extra: signals, isOpen}: Stored<MatchSignals>, nearness: Nearness): Candidate => ({
	id: click.id,
	organizationId: click.organizationId,
	linkId: click.linkId,
	clickedAt: click.at,
	expiresAt: new Date(click.at.getTime() + WINDOW_MS),
	nearness,
	signals,
	isConsumed: !isOpen,
	isLive: true,
	rules: RULES,
});

const merged = (told: MatchSignals, before: MatchSignals | null): MatchSignals => ({
	platform: told.platform ?? before?.platform ?? null,
	osVersion: told.osVersion ?? before?.osVersion ?? null,
	model: told.model ?? before?.model ?? null,
	language: told.language ?? before?.language ?? null,
	timezone: told.timezone ?? before?.timezone ?? null,
});

/** The server's match: its own code over `createClickStore`, in the steps of `findMatch` and `weighNearby`. */
export const createOplink = ({tokens, key}: Mode): Matcher => {
	const store = createClickStore<MatchSignals>((click, before) => merged(readClick(click), before));
	const before = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1000);

	const byGuess = (open: Open): Answer => {
		const {at: now, ip, net} = open;
		const {candidates: limit, crowd, windowSeconds} = matchPolicy;
		const organizationId = key ? open.organizationId : null;
		const since = before(now, WINDOW_MS / 1000);
		const found = store.find({near: 'ip', value: ip, organizationId, since, limit});
		const nearby = {
			near: 'ip',
			value: ip,
			organizationId: null,
			since: before(now, crowd.withinSeconds),
			limit,
		} as const;
		const openNearby = store.find(nearby).length;
		const candidates = found.map((stored) => candidateOf(stored, 'ip'));
		const signals = readOpen(open);
		const weigh = () => guessClick(candidates, signals, {now, isConfined: key, openNearby}, matchPolicy);
		let weighing = weigh();
		if (weighing.guess === null || weighing.guess.method === 'IP_FUZZY') {
			const wider = store
				.find({near: 'net', value: net, organizationId, since: before(now, windowSeconds.FINGERPRINT_SCORED), limit})
				.filter((stored) => !found.includes(stored));
			candidates.push(...wider.map((stored) => candidateOf(stored, 'network')));
			weighing = weigh();
		}

		const {guess} = weighing;
		const winner = guess && store.byId(guess.candidate.id);
		return guess && winner && store.claim(winner, now)
			? {click: winner.click, confidence: guess.confidence, probability: null}
			: null;
	};

	return {
		record: store.record,
		match: (open) => {
			const proven = tokens && open.proof ? store.byId(open.proof.clickId) : null;
			return proven && store.claim(proven, open.at)
				? {click: proven.click, confidence: 'exact', probability: null}
				: byGuess(open);
		},
	};
};
