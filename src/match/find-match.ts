import {findLiveLinks, type ResolvedLink} from '../resolution/resolve-link.ts';
import type {Services} from '../services.ts';
import {type Asker, askerOf, type MatchRequest} from './asker.ts';
import {
	claimClick,
	closeOthersOf,
	findByTokens,
	findConsumedBy,
	type GivenAnswer,
	type MatchClick,
} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import {type TokenMethod, tokensOf} from './match-request.ts';
import {noteMatch, noteMiss} from './note-attempt.ts';
import {type NearbyWeighing, weighNearby} from './weigh-nearby.ts';

/** A token that a request carried; `click` is null where nobody knows the token. */
export type TokenSighting = {method: TokenMethod; click: MatchClick | null};

/** A click that a device has been matched to, and the answer that it got. */
export type Found = {click: MatchClick; answer: GivenAnswer; link: ResolvedLink};

/** The body of the answer (interface 2). */
export type MatchAnswer =
	| {matched: false; matchMethod: 'NONE'}
	| {
			matched: true;
			matchMethod: GivenAnswer['method'];
			matchConfidence: GivenAnswer['confidence'];
			matchScore?: number;
			linkId: string;
			path: string;
			params: Record<string, string>;
	  };

const toAnswer = ({answer: {method, confidence, score}, link}: Found): MatchAnswer => ({
	matched: true,
	matchMethod: method,
	matchConfidence: confidence,
	...(method === 'FINGERPRINT_SCORED' && score !== null ? {matchScore: score} : {}),
	linkId: link.id,
	path: link.path,
	params: link.params,
});

const liveLink = async (services: Services, {linkId}: MatchClick): Promise<ResolvedLink | null> =>
	(await findLiveLinks(services, [linkId])).get(linkId) ?? null;

/** The answer that the device got to this click within the grace, or null. A key confines repeated guesses too. */
const repeat = async (services: Services, asker: Asker, click: MatchClick | null): Promise<Found | null> => {
	const since = asker.now.getTime() - matchPolicy.graceSeconds * 1000;
	const {answer, consumedAt, consumedBy} = click ?? {};
	if (!click || !answer || !consumedAt || !consumedBy || consumedAt.getTime() <= since) {
		return null;
	}

	const isOwn = asker.devices.some((device) => device.equals(consumedBy));
	const isForeign = asker.organizationId !== null && click.organizationId !== asker.organizationId;
	if (!isOwn || (isForeign && answer.confidence !== 'exact')) {
		return null;
	}

	const link = await liveLink(services, click);
	return link && {click, answer, link};
};

const repeatLast = async (services: Services, asker: Asker): Promise<Found | null> => {
	const since = new Date(asker.now.getTime() - matchPolicy.graceSeconds * 1000);
	return repeat(services, asker, await findConsumedBy(services.db, asker.devices, since));
};

/** Takes a click for the device, or null where its link does not resolve or another device was faster. */
const claim = async (
	services: Services,
	{now, devices: [device]}: Asker,
	click: MatchClick,
	answer: GivenAnswer,
): Promise<Found | null> => {
	const link = await liveLink(services, click);
	if (link === null || !(await claimClick(services.db, click.id, {...answer, device, now}))) {
		return null;
	}

	await closeOthersOf(services.db, click, now);
	return {click, answer, link};
};

const claimGuess = (services: Services, asker: Asker, {guess, clicks}: NearbyWeighing): Promise<Found | null> => {
	const click = guess && clicks.get(guess.candidate.id);
	return guess && click ? claim(services, asker, click, guess) : Promise.resolve(null);
};

const sightTokens = async ({db}: Services, {fields}: MatchRequest): Promise<TokenSighting[]> => {
	const tokens = tokensOf(fields);
	const clicks =
		tokens.length === 0
			? []
			: await findByTokens(
					db,
					tokens.map(({hash}) => hash),
				);
	return tokens.map(({method, hash}) => ({
		method,
		click: clicks.find(({tokenHash}) => tokenHash.equals(hash)) ?? null,
	}));
};

/** What a click that was made a moment ago would be found by. */
const keysOf = ({places}: Asker, {fields}: MatchRequest): string[] => [
	...tokensOf(fields).map(({hash}) => hash.toString('hex')),
	...places.flatMap(({ipKey, netKey}) => [ipKey.toString('hex'), netKey.toString('hex')]),
];

/**
 * Tells an app's first open which click it came from: by token, else by the best guess that is sure enough. A device
 * that asks again within the grace gets the same answer. Each click is given to one device only.
 */
export const findMatch = async (services: Services, request: MatchRequest): Promise<MatchAnswer> => {
	const asker = await askerOf(services, request);
	await services.clickJournal.settled(...keysOf(asker, request));
	const sightings = await sightTokens(services, request);
	for (const {method, click} of sightings) {
		if (click?.consumedAt === null) {
			// Before the claim, so that the click is still among those that a guess could choose.
			const weighing = await weighNearby(services, asker);
			const found = await claim(services, asker, click, {method, confidence: 'exact', score: null});
			if (found !== null) {
				await noteMatch(services, asker, request, {found, sightings, weighing});
				return toAnswer(found);
			}
		}

		const repeated = await repeat(services, asker, click);
		if (repeated !== null) {
			return toAnswer(repeated);
		}
	}

	const repeated = await repeatLast(services, asker);
	if (repeated !== null) {
		return toAnswer(repeated);
	}

	let weighing = await weighNearby(services, asker);
	while (weighing.guess !== null) {
		const found = await claimGuess(services, asker, weighing);
		if (found !== null) {
			await noteMatch(services, asker, request, {found, sightings, weighing});
			return toAnswer(found);
		}

		// Somebody was faster: this device's own other request, or another device, and then the next click is tried.
		const repeatedNow = await repeatLast(services, asker);
		if (repeatedNow !== null) {
			return toAnswer(repeatedNow);
		}

		weighing = await weighNearby(services, asker);
	}

	await noteMiss(services, asker, request, {sightings, weighing});
	return {matched: false, matchMethod: 'NONE'};
};
