import {randomUUID} from 'node:crypto';
import {isConnectionFault} from '../db/db.ts';
import type {MinimumVersion} from '../links/platform-fields.ts';
import type {PlanDeps} from '../plans/entitlements.ts';
import {findLiveLinks} from '../resolution/resolve-link.ts';
import {withQuery} from '../resolution/tap-query.ts';
import type {Services} from '../services.ts';
import {type ClaimedLink, claimClick, type MatchNotes} from './claim-click.ts';
import {findAround, type Surroundings} from './find-clicks.ts';
import {type FirstOpen, firstOpenOf, type MatchRequest} from './first-open.ts';
import {gradeGuess} from './grade-guess.ts';
import type {GivenAnswer, MatchClick} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import {type SentToken, tokensOf} from './match-request.ts';
import {countPhone, noteAlone, noteMiss, notesOfMatch, refusedToken, sightingsOf} from './note-attempt.ts';
import {weighNearby} from './weigh-nearby.ts';

export type MatchDeps = PlanDeps &
	Pick<
		Services,
		'addresses' | 'background' | 'clickJournal' | 'db' | 'matchPeppers' | 'metrics' | 'phoneBook' | 'relayRanges'
	>;

/** A click that a device has been matched to, and the answer that it got. */
type Found = {answer: GivenAnswer; link: Omit<ClaimedLink, 'organizationId'>};

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
			minimumVersion?: MinimumVersion;
	  };

const toAnswer = ({answer: {method, confidence, score}, link}: Found): MatchAnswer => ({
	matched: true,
	matchMethod: method,
	matchConfidence: confidence,
	...(method === 'FINGERPRINT_SCORED' && score !== null ? {matchScore: score} : {}),
	linkId: link.id,
	path: link.path,
	params: link.params,
	...(link.minimumVersion === null ? {} : {minimumVersion: link.minimumVersion}),
});

/** The answer that the device got to this click within the grace, or null. A key confines repeated guesses too. */
const repeat = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'db'>,
	firstOpen: FirstOpen,
	click: MatchClick | null,
): Promise<Found | null> => {
	const since = firstOpen.now.getTime() - matchPolicy.graceSeconds * 1000;
	const {answer, consumedAt, consumedBy} = click ?? {};
	if (!click || !answer || !consumedAt || !consumedBy || consumedAt.getTime() <= since) {
		return null;
	}

	const isOwn = firstOpen.devices.some((device) => device.equals(consumedBy));
	const isForeign = firstOpen.organizationId !== null && click.organizationId !== firstOpen.organizationId;
	if (!isOwn || (isForeign && answer.confidence !== 'exact')) {
		return null;
	}

	const link = (await findLiveLinks(services, [click.linkId])).get(click.linkId);
	return link === undefined ? null : {answer, link: {...link, params: withQuery(link.params, click.query ?? {})}};
};

/**
 * Takes a click for the device, or null where its link does not resolve or another device was faster.
 * @param notesOf builds the notes; it gets the click's link and organization, or null if they are not known yet.
 */
const claim = async (
	services: Pick<Services, 'db' | 'log'>,
	{now, devices: [device]}: FirstOpen,
	{clickId, answer, notesOf}: {clickId: string; answer: GivenAnswer; notesOf: (link: ClaimedLink | null) => MatchNotes},
): Promise<Found | null> => {
	const {db} = services;
	try {
		const link = await claimClick(db, clickId, {...answer, device, now}, notesOf(null));
		return link && {answer, link};
	} catch (error) {
		if (isConnectionFault(error)) {
			throw error;
		}

		// Best effort: what is noted about an answer must not cost the answer.
		const link = await claimClick(db, clickId, {...answer, device, now}, null);
		if (link !== null) {
			await noteAlone(services, notesOf(link));
		}

		return link && {answer, link};
	}
};

/**
 * Takes the click whose page carried the token, with one statement. What a guess would have said is found after the
 * answer: a crash loses only that.
 */
const claimByToken = async (
	services: Pick<Services, 'background' | 'db' | 'log' | 'metrics' | 'phoneBook'>,
	firstOpen: FirstOpen,
	request: MatchRequest,
	tokens: readonly SentToken[],
	{method, clickId}: SentToken,
): Promise<Found | null> => {
	const attemptId = request.attemptId ?? randomUUID();
	const asked = {...request, attemptId};
	const answer = {method, confidence: 'exact', score: null} as const;
	const sightings = tokens.map((token) => ({method: token.method, isKnown: token.clickId === clickId}));
	const found = await claim(services, firstOpen, {
		clickId,
		answer,
		notesOf: (link) => notesOfMatch(firstOpen, asked, {clickId, link, answer, sightings, weighing: null}),
	});
	if (found !== null) {
		services.background.run('grade a guess', gradeGuess(services, firstOpen, asked, {tokens, clickId, attemptId}));
	}

	return found;
};

/** The texts by which a click of a moment ago, perhaps not drained yet, could match this request. */
const keysOf = ({places}: FirstOpen, tokens: readonly SentToken[]): string[] => [
	...tokens.map(({clickId}) => clickId),
	...places.flatMap(({ipKey, netKey}) => [ipKey.toString('hex'), netKey.toString('hex')]),
];

/**
 * Tells an app's first open which click it came from: by token, else by the best guess that is sure enough. A device
 * that asks again within the grace gets the same answer. Each click is given to one device only.
 *
 * By token that is nearly always one statement, by a guess two: one that finds what there is, one that claims the click
 * and notes it.
 */
export const findMatch = async (services: MatchDeps, request: MatchRequest): Promise<MatchAnswer> => {
	const firstOpen = await firstOpenOf(services, request);
	const tokens = tokensOf(request.fields);
	await services.clickJournal.settled(...keysOf(firstOpen, tokens));
	const look = (): Promise<Surroundings> => findAround(services.db, firstOpen, tokens);

	let around: Surroundings | null = null;
	for (const token of tokens) {
		const found = await claimByToken(services, firstOpen, request, tokens, token);
		if (found !== null) {
			return toAnswer(found);
		}

		// Somebody was faster, which may be this device's own other request.
		around = await look();
		const repeated = await repeat(services, firstOpen, around.tokens.find(({id}) => id === token.clickId) ?? null);
		if (repeated !== null) {
			return toAnswer(repeated);
		}
	}

	for (;;) {
		around ??= await look();
		const repeated = firstOpen.allowsGuesses ? await repeat(services, firstOpen, around.lastOfDevice) : null;
		if (repeated !== null) {
			return toAnswer(repeated);
		}

		const weighing = await weighNearby(services, firstOpen, around);
		const sightings = sightingsOf(tokens, around);
		const {guess} = weighing;
		if (guess === null) {
			await noteMiss(services, firstOpen, request, {refused: refusedToken(tokens, around), sightings, weighing});
			return {matched: false, matchMethod: 'NONE'};
		}

		const {method, confidence, score, candidate} = guess;
		const answer = {method, confidence, score};
		const link = {id: candidate.linkId, organizationId: candidate.organizationId};
		const notes = notesOfMatch(firstOpen, request, {clickId: candidate.id, link, answer, sightings, weighing});
		const found = await claim(services, firstOpen, {clickId: candidate.id, answer, notesOf: () => notes});
		if (found !== null) {
			countPhone(services, firstOpen, request, candidate.organizationId, 'guess');
			return toAnswer(found);
		}

		// Somebody was faster: this device's own other request, or another device, and then the next click is tried.
		around = null;
	}
};
