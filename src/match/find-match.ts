import {isConnectionFault} from '../db/db.ts';
import {findLiveLinks} from '../resolution/resolve-link.ts';
import type {Services} from '../services.ts';
import {type Asker, askerOf, type MatchRequest} from './asker.ts';
import {type ClaimedLink, claimClick, type MatchNotes} from './claim-click.ts';
import {findAround, type Surroundings} from './find-clicks.ts';
import type {GivenAnswer, MatchClick} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import {type SentToken, type TokenSighting, tokensOf} from './match-request.ts';
import {countPhone, noteAlone, noteMiss, notesOfMatch} from './note-attempt.ts';
import {weighNearby} from './weigh-nearby.ts';

/** A click that a device has been matched to, and the answer that it got. */
type Found = {answer: GivenAnswer; link: ClaimedLink};

/** The body of the answer (contract/match 1). */
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

	const link = (await findLiveLinks(services, [click.linkId])).get(click.linkId);
	return link === undefined ? null : {answer, link};
};

/** Takes a click for the device, or null where its link does not resolve or another device was faster. */
const claim = async (
	services: Pick<Services, 'db' | 'log'>,
	{now, devices: [device]}: Asker,
	click: MatchClick,
	answer: GivenAnswer,
	notes: MatchNotes,
): Promise<Found | null> => {
	const {db} = services;
	try {
		const link = await claimClick(db, click, {...answer, device, now}, notes);
		return link && {answer, link};
	} catch (error) {
		if (isConnectionFault(error)) {
			throw error;
		}

		// Best effort: what is noted about an answer must not cost the answer.
		const link = await claimClick(db, click, {...answer, device, now}, null);
		if (link !== null) {
			await noteAlone(services, notes);
		}

		return link && {answer, link};
	}
};

/** What a click that was made a moment ago would be found by. */
const keysOf = ({places}: Asker, tokens: readonly SentToken[]): string[] => [
	...tokens.map(({clickId}) => clickId),
	...places.flatMap(({ipKey, netKey}) => [ipKey.toString('hex'), netKey.toString('hex')]),
];

/**
 * Tells an app's first open which click it came from: by token, else by the best guess that is sure enough. A device
 * that asks again within the grace gets the same answer. Each click is given to one device only.
 *
 * Nearly always that is two statements: one that finds what there is, one that claims the click and notes it.
 */
export const findMatch = async (services: Services, request: MatchRequest): Promise<MatchAnswer> => {
	const asker = await askerOf(services, request);
	const tokens = tokensOf(request.fields);
	await services.clickJournal.settled(...keysOf(asker, tokens));
	const look = (): Promise<Surroundings> => findAround(services.db, asker, tokens);

	let around = await look();
	const clickOf = ({clickId}: SentToken): MatchClick | null => around.tokens.find(({id}) => id === clickId) ?? null;
	const sightings = tokens.map((token): TokenSighting => ({method: token.method, click: clickOf(token)}));
	for (const token of tokens) {
		const {method} = token;
		const click = clickOf(token);
		if (click?.consumedAt === null && click.isLive) {
			// Weighed as it was before the claim, when the click was still among those that a guess could choose.
			const weighing = await weighNearby(services, asker, around);
			const answer = {method, confidence: 'exact', score: null} as const;
			const notes = notesOfMatch(asker, request, {click, answer, sightings, weighing});
			const found = await claim(services, asker, click, answer, notes);
			if (found !== null) {
				countPhone(services, asker, request, click.organizationId);
				return toAnswer(found);
			}

			// Somebody was faster, which may be this device's own other request.
			around = await look();
		}

		const repeated = await repeat(services, asker, clickOf(token));
		if (repeated !== null) {
			return toAnswer(repeated);
		}
	}

	for (;;) {
		const repeated = asker.allowsGuesses ? await repeat(services, asker, around.lastOfDevice) : null;
		if (repeated !== null) {
			return toAnswer(repeated);
		}

		const weighing = await weighNearby(services, asker, around);
		const {guess} = weighing;
		const click = guess && weighing.clicks.get(guess.candidate.id);
		if (!guess || !click) {
			await noteMiss(services, asker, request, {sightings, weighing});
			return {matched: false, matchMethod: 'NONE'};
		}

		const {method, confidence, score} = guess;
		const answer = {method, confidence, score};
		const notes = notesOfMatch(asker, request, {click, answer, sightings, weighing});
		const found = await claim(services, asker, click, answer, notes);
		if (found !== null) {
			countPhone(services, asker, request, click.organizationId);
			return toAnswer(found);
		}

		// Somebody was faster: this device's own other request, or another device, and then the next click is tried.
		around = await look();
	}
};
