import type {Services} from '../../services.ts';
import type {Candidate} from './candidate.ts';
import {type AddressClicks, clicksInNetwork} from './find-clicks.ts';
import type {FirstOpen} from './first-open.ts';
import {guessClick, type Weighing} from './guess.ts';
import type {MatchClick} from './match-click-store.ts';
import {markBlocked} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import {isOfRelay} from './network-keys.ts';
import type {Nearness} from './phone-comparison.ts';

export const candidateOf = ({consumedAt, visitor, ...click}: MatchClick, nearness: Nearness): Candidate => ({
	...click,
	nearness,
	isConsumed: consumedAt !== null,
	isRelay: isOfRelay(click),
	visitor: visitor?.toString('hex') ?? null,
});

/** A weighing, with the compared clicks by their ids. */
export type ScoredCandidates = Weighing & {clicks: Map<string, MatchClick>};

/** The organization of the app, by key or clicks; null if the clicks are of several. */
const organizationOf = ({organizationId}: FirstOpen, candidates: Candidate[]): string | null => {
	const [only, ...others] = new Set(
		organizationId === null ? candidates.map((one) => one.organizationId) : [organizationId],
	);
	return others.length > 0 ? null : (only ?? null);
};

/**
 * The open click near the app's address that led to the open, if a guess is certain enough. The wider network is
 * searched only if the address gives no guess, and consumed clicks only to explain a miss.
 * @param claimed a click that has answered the request, weighed as if it were still open; null before the answer.
 */
export const scoreCandidates = async (
	services: Pick<Services, 'db' | 'linkPolicy' | 'phoneBook'>,
	firstOpen: FirstOpen,
	{atAddress, later, clicksLast24h}: AddressClicks,
	claimed: MatchClick | null = null,
): Promise<ScoredCandidates> => {
	const {now, organizationId, signals, hasToken} = firstOpen;
	const clicks = new Map<string, MatchClick>();
	if (!firstOpen.allowsGuesses) {
		return {
			guess: null,
			reason: 'guesses_off',
			weighed: [],
			nobody: 1,
			tokenless: 1,
			neighbours: {seen: 0, equal: 0},
			clicksLast24h: 0,
			clicks,
		};
	}

	const candidates: Candidate[] = [];
	const claimedAt = (key: 'ipKey' | 'netKey'): MatchClick[] =>
		claimed !== null && firstOpen.places.some((place) => claimed[key] !== null && place[key].equals(claimed[key]))
			? [{...claimed, consumedAt: null}]
			: [];
	// After the answer there may be more clicks.
	const isInTime = ({clickedAt}: MatchClick) => claimed === null || clickedAt <= now;
	const add = (more: MatchClick[], nearness: Nearness) => {
		for (const click of more.filter((one) => !clicks.has(one.id) && isInTime(one))) {
			clicks.set(click.id, click);
			candidates.push(candidateOf(click, nearness));
		}
	};
	const weigh = async (count: number): Promise<ScoredCandidates> => {
		const owner = organizationOf(firstOpen, candidates);
		const phones = owner === null ? [] : await services.phoneBook.of(owner, now);
		const circumstances = {now, isConfined: organizationId !== null, clicksLast24h: count, phones, hasToken};
		return {...guessClick(candidates, signals, circumstances, matchPolicy), clicks};
	};

	add([...claimedAt('ipKey'), ...(await markBlocked(services, atAddress))], 'ip');
	add(await markBlocked(services, later), 'elsewhere');
	const near = await weigh(clicksLast24h);
	if (near.guess !== null) {
		return near;
	}

	const {inNetwork, consumed} = await clicksInNetwork(services.db, firstOpen);
	const around = [...claimedAt('netKey'), ...(await markBlocked(services, inNetwork))];
	add(around, 'network');
	const wider = await weigh(clicksLast24h + around.length);
	if (wider.guess !== null || claimed !== null) {
		return wider;
	}

	add(await markBlocked(services, consumed), 'ip');
	return weigh(clicksLast24h + around.length);
};
