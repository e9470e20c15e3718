import type {Services} from '../services.ts';
import type {Asker} from './asker.ts';
import type {Candidate} from './candidate.ts';
import {findConsumed, findInNetwork, type Surroundings} from './find-clicks.ts';
import {guessClick, type Weighing} from './guess.ts';
import type {MatchClick} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import type {Nearness} from './match-score.ts';

const candidateOf = (click: MatchClick, nearness: Nearness): Candidate => ({
	id: click.id,
	organizationId: click.organizationId,
	linkId: click.linkId,
	clickedAt: click.clickedAt,
	expiresAt: click.expiresAt,
	nearness,
	signals: click.signals,
	isConsumed: click.consumedAt !== null,
	isLive: click.isLive,
	rules: click.rules,
});

/** A weighing, with the clicks that were looked at by their ids. */
export type NearbyWeighing = Weighing & {clicks: Map<string, MatchClick>};

/**
 * Which open click near the app's address it came from, if a guess is sure enough. The wider network is searched only
 * where the address itself gives nothing that scores, and consumed clicks only to say why there is no match.
 */
export const weighNearby = async (
	{db}: Pick<Services, 'db'>,
	asker: Asker,
	{atAddress, openNearby, inNetwork, consumed}: Surroundings,
): Promise<NearbyWeighing> => {
	const {now, organizationId, signals} = asker;
	if (!asker.allowsGuesses) {
		return {guess: null, reason: 'guesses_off', weighed: [], clicks: new Map()};
	}

	const clicks = new Map(atAddress.map((click) => [click.id, click]));
	const candidates = atAddress.map((click) => candidateOf(click, 'ip'));
	const weigh = (): NearbyWeighing => ({
		...guessClick(candidates, signals, {now, isConfined: organizationId !== null, openNearby}, matchPolicy),
		clicks,
	});
	const add = (more: MatchClick[], nearness: Nearness) => {
		for (const click of more.filter(({id}) => !clicks.has(id))) {
			clicks.set(click.id, click);
			candidates.push(candidateOf(click, nearness));
		}
	};

	const near = weigh();
	if (near.guess !== null && near.guess.method !== 'IP_FUZZY') {
		return near;
	}

	add(inNetwork ?? (await findInNetwork(db, asker)), 'network');
	const wider = weigh();
	if (wider.guess !== null) {
		return wider;
	}

	add(consumed ?? (await findConsumed(db, asker)), 'ip');
	return weigh();
};
