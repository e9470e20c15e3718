import {randomUUID} from 'node:crypto';
import type {PlanDeps} from '../../accounts/plans/entitlements.ts';
import {noteForeignKey} from '../../platform/app-requests/note-refusal.ts';
import {isConnectionFault} from '../../platform/connection-fault.ts';
import type {Services} from '../../services.ts';
import {findLiveLink} from '../visit/link-rows.ts';
import {appDataOf} from '../visit/tap-query.ts';
import {type ClaimedLink, claimClick, type MatchNotes} from './claim-click.ts';
import {type AddressClicks, clicksAtAddress} from './find-clicks.ts';
import {type FirstOpen, firstOpenOf, type MatchRequest, type SentToken, tokensOf} from './first-open.ts';
import type {FollowUp} from './follow-ups.ts';
import type {MatchAnswer} from './match-answer.ts';
import {isListed, type MatchClick, markBlocked, type StoredAnswer} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import {noteAlone, noteMiss, notesOfMatch, refusedToken, sentTokenStates} from './note-attempt.ts';
import type {FirstPhone} from './phone-book.ts';
import {scoreCandidates} from './score-candidates.ts';
import {gradeGuess} from './silent-guess.ts';

export type MatchDeps = PlanDeps &
	Pick<
		Services,
		| 'addresses'
		| 'appRequests'
		| 'background'
		| 'clickJournal'
		| 'db'
		| 'followUps'
		| 'linkPolicy'
		| 'matchPeppers'
		| 'phoneBook'
		| 'relayRanges'
	>;

/** The answer of a match, and the link of the matched click. */
type Found = {answer: StoredAnswer; link: Omit<ClaimedLink, 'organizationId'>};

const toAnswer = ({answer: {method, confidence, score}, link}: Found): MatchAnswer => ({
	matched: true,
	matchMethod: method,
	matchConfidence: confidence,
	...(method === 'FINGERPRINT_SCORED' && score !== null ? {matchScore: score} : {}),
	linkId: link.id,
	...link.data,
});

/**
 * Repeats the answer of a click that this device claimed at most `graceSeconds` ago. A key confines repeated guesses,
 * too. @returns null for another click or device, after the grace, and if the link no longer resolves.
 */
const repeat = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'db' | 'linkPolicy'>,
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

	const link = await findLiveLink(services, click.linkId);
	return link && {answer, link: {id: link.id, data: appDataOf(link, click.query ?? {})}};
};

/**
 * Claims a click for the device and records the attempt in the same statement. If PostgreSQL rejects the record, claims
 * the click without it: a record must not cost the answer.
 * @param notesOf builds the record from the click's link, which is null if only the statement knows it.
 * @returns null if the link does not resolve or another device claimed the click first.
 * @throws the database's error if it is unavailable.
 */
const claim = async (
	services: Pick<Services, 'db' | 'log'>,
	{now, devices: [device]}: FirstOpen,
	{
		clickId,
		answer,
		notesOf,
	}: {clickId: string; answer: StoredAnswer; notesOf: (link: ClaimedLink | null) => MatchNotes},
): Promise<(Found & {link: ClaimedLink}) | null> => {
	const {db} = services;
	try {
		const link = await claimClick(db, clickId, {...answer, device, now}, notesOf(null));
		return link && {answer, link};
	} catch (error) {
		if (isConnectionFault(error)) {
			throw error;
		}

		const link = await claimClick(db, clickId, {...answer, device, now}, null);
		if (link !== null) {
			await noteAlone(services, notesOf(link));
		}

		return link && {answer, link};
	}
};

/** Queues the work that no answer needs. Without an organization the phone is not counted. */
const followUp = (
	{background, followUps}: Pick<Services, 'background' | 'followUps'>,
	{organizationId, ...phone}: Omit<FirstPhone, 'organizationId'> & {organizationId: string | null},
	guess: FollowUp['guess'] = null,
): void => {
	if (organizationId !== null) {
		background.run('follow up a match', followUps({phone: {...phone, organizationId}, guess}));
	}
};

/**
 * Claims the click whose page carried the token, with one statement. The guess to compare it with (contract/match 5) is
 * made after the answer; a crash loses only that guess.
 * @returns null if the token is unknown, expired or used.
 */
const claimByToken = async (
	services: Pick<Services, 'appRequests' | 'background' | 'db' | 'followUps' | 'linkPolicy' | 'log' | 'phoneBook'>,
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
		const {organizationId} = found.link;
		noteForeign(services, request, organizationId);
		followUp(services, {...request.fields, organizationId, matched: 'token', at: firstOpen.now, neighbours: null}, () =>
			gradeGuess(services, firstOpen, request, {tokens, clickId, attemptId}),
		);
	}

	return found;
};

/** Notes a key of another organization than the one of the token's click. */
const noteForeign = (
	services: Pick<Services, 'appRequests'>,
	{fields: {platform, deviceId}, organization, userAgent}: MatchRequest,
	ofLink: string | undefined,
): void => noteForeignKey(services, {ofKey: organization?.id, ofLink, platform, deviceId, userAgent});

/** The texts that a matching click would contain if it is still in a journal: ids of tokens, hashes of addresses. */
const keysOf = ({places}: FirstOpen, tokens: readonly SentToken[]): string[] => [
	...tokens.map(({clickId}) => clickId),
	...places.flatMap(({ipKey, netKey}) => [ipKey.toString('hex'), netKey.toString('hex')]),
];

/**
 * Finds the click that led to an app's first open and claims it for the device (contract/match 2 and 7): by token, or
 * else by a guess that reaches the policy's minimum confidence. Each click goes to one device; the others continue with
 * the next one. A device that repeats its request within 30 seconds gets the same answer. Every attempt is recorded, also a
 * miss.
 *
 * A match by token takes one statement. A guess takes two: one reads the clicks around the device, one claims.
 * @returns the body of the answer; a miss is `{matched: false, matchMethod: 'NONE'}`.
 * @throws the database's error if it is unavailable, which is answered as 503.
 */
export const findMatch = async (services: MatchDeps, request: MatchRequest): Promise<MatchAnswer> => {
	const firstOpen = await firstOpenOf(services, request);
	const tokens = tokensOf(request.fields);
	const phone = {...request.fields, at: firstOpen.now};
	await services.clickJournal.flushed({containing: keysOf(firstOpen, tokens)});
	const look = async (): Promise<AddressClicks> => {
		const found = await clicksAtAddress(services.db, firstOpen, tokens);
		return {...found, tokens: await markBlocked(services, found.tokens)};
	};

	let around: AddressClicks | null = null;
	for (const token of tokens) {
		const isBlocked = await isListed(services, token.clickId);
		const found = isBlocked ? null : await claimByToken(services, firstOpen, request, tokens, token);
		if (found !== null) {
			return toAnswer(found);
		}

		// Another request was faster, perhaps of this device.
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

		const weighing = await scoreCandidates(services, firstOpen, around);
		const sightings = sentTokenStates(tokens, around);
		const {guess, neighbours} = weighing;
		if (guess === null) {
			followUp(services, {...phone, organizationId: firstOpen.organizationId, matched: null, neighbours});
			const refused = refusedToken(tokens, around);
			noteForeign(services, request, refused?.organizationId);
			await noteMiss(services, firstOpen, request, {refused, sightings, weighing});
			return {matched: false, matchMethod: 'NONE'};
		}

		const {method, confidence, score, candidate} = guess;
		const answer = {method, confidence, score};
		const link = {id: candidate.linkId, organizationId: candidate.organizationId};
		const notes = notesOfMatch(firstOpen, request, {clickId: candidate.id, link, answer, sightings, weighing});
		const found = await claim(services, firstOpen, {clickId: candidate.id, answer, notesOf: () => notes});
		if (found !== null) {
			followUp(services, {...phone, organizationId: candidate.organizationId, matched: 'guess', neighbours});
			return toAnswer(found);
		}

		// Another request was faster. If it was this device's, its answer is repeated; otherwise the next click follows.
		around = null;
	}
};
