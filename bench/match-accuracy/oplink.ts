import type {Candidate} from '../../src/visits/matches/candidate.ts';
import {type Guess, guessClick} from '../../src/visits/matches/guess.ts';
import {matchPolicy} from '../../src/visits/matches/match-policy.ts';
import type {MatchSignals} from '../../src/visits/matches/match-signals.ts';
import type {Nearness, PhoneCount} from '../../src/visits/matches/phone-comparison.ts';
import {createClickStore, type Stored} from './click-store.ts';
import {type ReadClick, readClick, readOpen} from './reading.ts';
import type {Open} from './story.ts';
import type {Answer, Matcher, Mode} from './tally.ts';

const RULES = {probabilisticMatching: true, minimumConfidence: 'low'} as const;
const WINDOW_MS = 168 * 3600_000;

const candidateOf = ({click, extra: {signals, browser}, isOpen}: Stored<ReadClick>, nearness: Nearness): Candidate => ({
	id: click.id,
	organizationId: click.organizationId,
	linkId: click.linkId,
	clickedAt: click.at,
	expiresAt: new Date(click.at.getTime() + WINDOW_MS),
	nearness,
	signals,
	browser,
	isConsumed: !isOpen,
	isLive: true,
	isBlocked: false,
	isRelay: false,
	rules: RULES,
	visitor: click.visitor,
});

const merged = (reported: MatchSignals, before: MatchSignals | undefined): MatchSignals => ({
	platform: reported.platform ?? before?.platform ?? null,
	osVersion: reported.osVersion ?? before?.osVersion ?? null,
	model: reported.model ?? before?.model ?? null,
	language: reported.language ?? before?.language ?? null,
	timezone: reported.timezone ?? before?.timezone ?? null,
});

/** The server's match: its own code over `createClickStore`, in the steps of `findMatch` and `scoreCandidates`. */
export const createOplink = ({tokens, key}: Mode): Matcher => {
	const store = createClickStore<ReadClick>((click, before) => {
		const {signals, browser} = readClick(click);
		return {signals: merged(signals, before?.signals), browser: browser ?? before?.browser ?? null};
	});
	const before = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1000);

	/** The last first opens of each organization. */
	const phones = new Map<string, PhoneCount[]>();

	const weigh = (open: Open) => {
		const {at: now, ip, net} = open;
		const {candidates: limit, windowSeconds} = matchPolicy;
		const organizationId = key ? open.organizationId : null;
		const here = {near: 'ip', value: ip, organizationId} as const;
		const found = store.find({...here, since: before(now, WINDOW_MS / 1000), limit: limit.address});
		const day = before(now, windowSeconds.FINGERPRINT_EXACT);
		const clicksLast24h = store.find({...here, since: day, limit: 2 * limit.address, orUsed: true}).length;
		const candidates = [
			...found.map((stored) => candidateOf(stored, 'ip')),
			...store.findLater(found).map((stored) => candidateOf(stored, 'elsewhere')),
		];
		const signals = readOpen(open);
		const hasToken = tokens && open.proof !== null;
		const choose = (count: number) => {
			const [owner, ...others] = new Set(candidates.map((one) => one.organizationId));
			const known = owner === undefined || others.length > 0 ? [] : (phones.get(owner) ?? []);
			return guessClick(
				candidates,
				signals,
				{now, isConfined: key, clicksLast24h: count, phones: known, hasToken},
				matchPolicy,
			);
		};
		let weighing = choose(clicksLast24h);
		if (weighing.guess === null) {
			const since = before(now, windowSeconds.FINGERPRINT_SCORED);
			const wider = store
				.find({near: 'net', value: net, organizationId, since, limit: limit.network})
				.filter(({click}) => candidates.every(({id}) => id !== click.id));
			candidates.push(...wider.map((stored) => candidateOf(stored, 'network')));
			weighing = choose(clicksLast24h + wider.length);
		}

		return weighing;
	};

	const byGuess = (open: Open, guess: Guess | null): Answer => {
		const winner = guess && store.byId(guess.candidate.id);
		return guess && winner && store.claim(winner, open.at)
			? {click: winner.click, confidence: guess.confidence, probability: guess.probability}
			: null;
	};

	const matched = (open: Open, guess: Guess | null): Answer => {
		const proven = tokens && open.proof ? store.byId(open.proof.clickId) : null;
		return proven && store.claim(proven, open.at)
			? {click: proven.click, confidence: 'exact', probability: null}
			: byGuess(open, guess);
	};

	return {
		record: store.record,
		match: (open) => {
			// A match by token makes its guess afterwards, with all clicks as they were before it.
			const {guess, neighbours} = weigh(open);
			const answer = matched(open, guess);
			const byToken = Number(answer?.confidence === 'exact');
			const phone = {
				signals: readOpen(open),
				count: 1,
				byToken,
				byGuess: Number(answer !== null) - byToken,
				neighbours,
			};
			phones.set(open.organizationId, [...(phones.get(open.organizationId) ?? []), phone].slice(-300));
			return answer;
		},
	};
};
