import {randomUUID} from 'node:crypto';
import {isIPv6} from 'node:net';
import {platformOfAgent} from '../../platform/app-requests/app-request.ts';
import type {Services} from '../../services.ts';
import {registerDevice} from '../devices/device-store.ts';
import type {RuledOut, WeighedClick} from './candidate.ts';
import type {AttemptDevice, MatchNotes} from './claim-click.ts';
import type {AddressClicks} from './find-clicks.ts';
import type {FirstOpen, MatchRequest} from './first-open.ts';
import {type SentToken, type TokenMethod, type TokenSighting, tokensOf} from './first-open.ts';
import {type MissReason, scoreOf} from './guess.ts';
import {likenessOf} from './likeness.ts';
import {
	type AttemptSignals,
	type CandidateTrace,
	type MatchAttempt,
	type RecordedAttempt,
	recordAttempt,
} from './match-attempt-store.ts';
import type {MatchClick, StoredAnswer} from './match-click-store.ts';
import type {Nearness} from './phone-comparison.ts';
import {offsetsAt} from './phone-comparison.ts';
import {candidateOf, type ScoredCandidates} from './score-candidates.ts';

/** Maximum candidates that a trace keeps. */
const MAX_TRACED = 20;

type Evidence = {sightings: TokenSighting[]; weighing: ScoredCandidates | null};

/** The tokens whose clicks were found. */
export const sentTokenStates = (tokens: readonly SentToken[], {tokens: found}: AddressClicks): TokenSighting[] =>
	tokens.map(({method, clickId}) => ({method, isKnown: found.some(({id}) => id === clickId)}));

/** The click of the first known token, which did not match. */
export const refusedToken = (tokens: readonly SentToken[], {tokens: found}: AddressClicks): MatchClick | null =>
	tokens.flatMap(({clickId}) => found.find(({id}) => id === clickId) ?? [])[0] ?? null;

export const signalsOf = ({fields, ip, organization}: MatchRequest, sightings: TokenSighting[]): AttemptSignals => {
	const sightingOf = (wanted: TokenMethod): AttemptSignals['clipboardToken'] => {
		const sighting = sightings.find(({method}) => method === wanted);
		return sighting === undefined ? 'absent' : sighting.isKnown ? 'known' : 'unknown';
	};
	return {
		platform: fields.platform ?? null,
		osVersion: fields.osVersion ?? null,
		deviceModel: fields.deviceModel ?? null,
		language: fields.language ?? null,
		timezone: fields.timezone ?? null,
		network: isIPv6(ip) ? 'IPv6' : 'IPv4',
		clipboardToken: sightingOf('CLIPBOARD'),
		installReferrer: sightingOf('INSTALL_REFERRER'),
		apiKey: organization !== null,
	};
};

/** The points that a click's place adds to its trace. */
const placePoints: Record<Nearness, {ip: number; network: number}> = {
	ip: {ip: 40, network: 0},
	network: {ip: 0, network: 25},
	elsewhere: {ip: 0, network: 0},
};

const traceOf = ({candidate, likeness, probability, alike, compared, ruledOut}: WeighedClick): CandidateTrace => ({
	linkId: candidate.linkId,
	clickedAt: candidate.clickedAt.toISOString(),
	score: scoreOf(probability),
	probability,
	alike,
	compared,
	points: {...placePoints[candidate.isRelay ? 'elsewhere' : candidate.nearness], ...likeness.points},
	ruledOut,
	...(candidate.isRelay ? {relay: true} : {}),
});

/** A click found by token, with the probability that it would have had as a guess. */
const traceOfToken = (
	click: MatchClick,
	{now, signals}: FirstOpen,
	{weighed}: ScoredCandidates,
	ruledOut: RuledOut | null,
): CandidateTrace => {
	const own = weighed.find(({candidate}) => candidate.id === click.id) ?? {
		candidate: candidateOf(click, 'elsewhere'),
		likeness: likenessOf(click.signals, signals, offsetsAt(now)),
		probability: 0,
		alike: 0,
		compared: 0,
	};
	return traceOf({...own, ruledOut});
};

/** The click of a token, and why it did not match; null if it did. */
type RefusedToken = {click: MatchClick; ruledOut: RuledOut | null};

/** The trace, without data of organizations other than its reader. */
export const tracesOf = (
	first: RefusedToken | null,
	weighing: ScoredCandidates,
	firstOpen: FirstOpen,
	reader: string | null,
): CandidateTrace[] => {
	const isShown = ({organizationId}: {organizationId: string}) => reader === null || organizationId === reader;
	const others = weighing.weighed.filter(({candidate}) => candidate.id !== first?.click.id && isShown(candidate));
	return [
		...(first === null || !isShown(first.click)
			? []
			: [traceOfToken(first.click, firstOpen, weighing, first.ruledOut)]),
		...others.map(traceOf),
	].slice(0, MAX_TRACED);
};

/** The case for an install without a click. Only a caller with a key gets the number of clicks. */
export const nobodyOf = (
	{organizationId}: FirstOpen,
	{nobody, tokenless, clicksLast24h}: ScoredCandidates,
): MatchAttempt['nobody'] => ({
	probability: nobody,
	tokenless,
	made: organizationId === null ? null : clicksLast24h,
});

/** Best effort: a record must not cost the answer. */
const bestEffort = async ({log}: Pick<Services, 'log'>, what: string, work: Promise<unknown>): Promise<void> => {
	await work.catch((error: unknown) => log.warn({err: error}, `could not ${what}`));
};

/** The values by which `oplink app status` counts an attempt: any text with the prefix of tokens is a token. */
const sentOf = ({fields, userAgent}: MatchRequest): Pick<RecordedAttempt, 'hasToken' | 'agentPlatform'> => ({
	hasToken:
		tokensOf(fields).length > 0 ||
		[fields.clipboardToken, fields.installReferrer].some((text) => text?.trim().startsWith('opl_')),
	agentPlatform: platformOfAgent(userAgent),
});

const deviceOf = ({now}: FirstOpen, {fields}: MatchRequest): AttemptDevice | null =>
	fields.deviceId == null ? null : {deviceId: fields.deviceId, now, facts: fields};

/** The record of an attempt that matched nothing. */
const attemptOf = (
	firstOpen: FirstOpen,
	request: MatchRequest,
	{sightings, weighing, first, organizationId}: Evidence & {first: RefusedToken | null; organizationId: string | null},
): RecordedAttempt => ({
	id: request.attemptId ?? randomUUID(),
	at: firstOpen.now,
	organizationId,
	deviceId: request.fields.deviceId ?? null,
	matched: false,
	method: 'NONE',
	confidence: null,
	score: null,
	linkId: null,
	clickId: null,
	reason: null,
	signals: signalsOf(request, sightings),
	candidates: weighing === null ? [] : tracesOf(first, weighing, firstOpen, organizationId),
	nobody: weighing && nobodyOf(firstOpen, weighing),
	silentGuess: null,
	...sentOf(request),
});

/**
 * The records of a match: the attempt and the device. A match by token has no weighing yet, and the statement that
 * claims the click adds its organization and link.
 */
export const notesOfMatch = (
	firstOpen: FirstOpen,
	request: MatchRequest,
	{
		clickId,
		link,
		answer,
		...evidence
	}: Evidence & {clickId: string; link: {id: string; organizationId: string} | null; answer: StoredAnswer},
): MatchNotes => {
	const {organizationId = null, id: linkId = null} = link ?? {};
	const attempt = attemptOf(firstOpen, request, {...evidence, first: null, organizationId});
	return {
		attempt: {...attempt, matched: true, ...answer, linkId, clickId},
		device: deviceOf(firstOpen, request),
	};
};

/** Stores the records one by one; a failure of one does not affect the other. */
export const noteAlone = async (
	services: Pick<Services, 'db' | 'log'>,
	{attempt, device}: MatchNotes,
): Promise<void> => {
	await bestEffort(services, 'record an attempt', recordAttempt(services.db, attempt));
	const {organizationId, linkId} = attempt;
	if (device !== null && organizationId !== null) {
		const registration = {...device, organizationId, ...(linkId !== null && {matchedLinkId: linkId})};
		await bestEffort(services, 'register a device', registerDevice(services.db, registration));
	}
};

/** Why a known token did not match. */
const refusalOf = (
	{isBlocked, consumedAt, expiresAt}: MatchClick,
	now: Date,
): {reason: MissReason; ruledOut: RuledOut} => {
	if (isBlocked) {
		return {reason: 'blocked', ruledOut: 'blocked'};
	}

	if (consumedAt !== null) {
		return {reason: 'consumed', ruledOut: 'consumed'};
	}

	return expiresAt <= now
		? {reason: 'outside_window', ruledOut: 'outside_window'}
		: {reason: 'ruled_out', ruledOut: 'link_not_live'};
};

/**
 * Records why nothing matched, for the organization of the key, else of the token, which only its own link's page
 * gives out; a miss with neither belongs to no organization. Registers the device of a caller with a key.
 */
export const noteMiss = async (
	services: Pick<Services, 'db' | 'log'>,
	firstOpen: FirstOpen,
	request: MatchRequest,
	{
		refused: click,
		sightings,
		weighing,
	}: {refused: MatchClick | null; sightings: TokenSighting[]; weighing: ScoredCandidates},
): Promise<void> => {
	const refused = click && {click, ...refusalOf(click, firstOpen.now)};
	const organizationId = firstOpen.organizationId ?? click?.organizationId ?? null;
	const attempt = attemptOf(firstOpen, request, {sightings, weighing, first: refused, organizationId});
	const reason = refused?.reason ?? weighing.reason ?? 'no_click';
	const device = firstOpen.organizationId === null ? null : deviceOf(firstOpen, request);
	await noteAlone(services, {attempt: {...attempt, reason}, device});
};
