import {findLiveLinks} from '../resolution/resolve-link.ts';
import type {Services} from '../services.ts';
import type {Asker} from './asker.ts';
import type {Candidate} from './candidate.ts';
import {guessClick, type Weighing} from './guess.ts';
import {countOpenNear, findConsumedNear, findOpenNear, type MatchClick} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import type {Nearness} from './match-score.ts';

/** Most consumed clicks that a miss is explained by. */
const CONSUMED_SHOWN = 10;

const before = (now: Date, seconds: number): Date => new Date(now.getTime() - seconds * 1000);

const candidatesOf = async (services: Services, clicks: MatchClick[], nearness: Nearness): Promise<Candidate[]> => {
	const live = await findLiveLinks(services, [...new Set(clicks.map(({linkId}) => linkId))]);
	return clicks.map((click) => ({
		id: click.id,
		organizationId: click.organizationId,
		linkId: click.linkId,
		clickedAt: click.clickedAt,
		expiresAt: click.expiresAt,
		nearness,
		signals: click.signals,
		isConsumed: click.consumedAt !== null,
		isLive: live.has(click.linkId),
		rules: click.rules,
	}));
};

/** A weighing, with the clicks that were looked at by their ids. */
export type NearbyWeighing = Weighing & {clicks: Map<string, MatchClick>};

/**
 * Which open click near the app's address it came from, if a guess is sure enough. The wider network is searched only
 * where the address itself gives nothing that scores, and consumed clicks only to say why there is no match.
 */
export const weighNearby = async (services: Services, asker: Asker): Promise<NearbyWeighing> => {
	const {db} = services;
	const {now, places, organizationId, signals} = asker;
	const {candidates: limit, crowd, windowSeconds} = matchPolicy;
	const ipKeys = places.map(({ipKey}) => ipKey);
	const [clicks, openNearby] = await Promise.all([
		findOpenNear(db, {key: 'ip_key', keys: ipKeys, organizationId, limit}),
		countOpenNear(db, ipKeys, before(now, crowd.withinSeconds), limit),
	]);
	const candidates = await candidatesOf(services, clicks, 'ip');
	const weighed = (): NearbyWeighing => ({
		...guessClick(candidates, signals, {now, isConfined: organizationId !== null, openNearby}, matchPolicy),
		clicks: new Map(clicks.map((click) => [click.id, click])),
	});
	const add = async (more: MatchClick[], nearness: Nearness) => {
		const known = new Set(clicks.map(({id}) => id));
		const others = more.filter(({id}) => !known.has(id));
		clicks.push(...others);
		candidates.push(...(await candidatesOf(services, others, nearness)));
	};

	const atAddress = weighed();
	if (atAddress.guess !== null && atAddress.guess.method !== 'IP_FUZZY') {
		return atAddress;
	}

	const keys = places.map(({netKey}) => netKey);
	const since = before(now, windowSeconds.FINGERPRINT_SCORED);
	await add(await findOpenNear(db, {key: 'net_key', keys, organizationId, since, limit}), 'network');
	const inNetwork = weighed();
	if (inNetwork.guess !== null) {
		return inNetwork;
	}

	const consumedSince = before(now, windowSeconds.FINGERPRINT_EXACT);
	await add(
		await findConsumedNear(db, {keys: ipKeys, organizationId, since: consumedSince, limit: CONSUMED_SHOWN}),
		'ip',
	);
	return weighed();
};
