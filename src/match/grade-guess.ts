import type {Services} from '../services.ts';
import {findAround, findInNetwork} from './find-clicks.ts';
import type {FirstOpen, MatchRequest} from './first-open.ts';
import {gradeAttempt} from './guess-grades.ts';
import type {SentToken} from './match-request.ts';
import {countPhone, nobodyOf, sightingsOf, signalsOf, tracesOf} from './note-attempt.ts';
import {weighNearby} from './weigh-nearby.ts';

type Proven = {tokens: readonly SentToken[]; clickId: string; attemptId: string};

/**
 * After a match by token: what a guess would have answered, kept with the attempt and counted by whether it is the link
 * that the token proved. Then the phone is counted, too.
 */
export const gradeGuess = async (
	services: Pick<Services, 'db' | 'phoneBook' | 'background' | 'metrics'>,
	firstOpen: FirstOpen,
	request: MatchRequest,
	{tokens, clickId, attemptId}: Proven,
): Promise<void> => {
	const {db, metrics} = services;
	const around = await findAround(db, firstOpen, tokens);
	const click = around.tokens.find(({id}) => id === clickId);
	if (click === undefined) {
		return;
	}

	// As it was before the match, when the click was among those that a guess could choose.
	const open = {...click, consumedAt: null};
	const isAt = (key: 'ipKey' | 'netKey') =>
		firstOpen.places.some((place) => click[key] !== null && place[key].equals(click[key]));
	const inNetwork = isAt('netKey')
		? [open, ...(around.inNetwork ?? (await findInNetwork(db, firstOpen)))]
		: around.inNetwork;
	const weighing = await weighNearby(services, firstOpen, {
		...around,
		atAddress: isAt('ipKey') ? [open, ...around.atAddress] : around.atAddress,
		inNetwork,
		// They would only explain a miss.
		consumed: [],
	});
	const {organizationId, linkId} = click;
	const {guess} = weighing;
	await gradeAttempt(db, {
		id: attemptId,
		organizationId,
		deviceId: request.fields.deviceId ?? null,
		at: firstOpen.now,
		signals: signalsOf(request, sightingsOf(tokens, around)),
		candidates: tracesOf({click, ruledOut: null}, weighing, firstOpen, organizationId),
		nobody: nobodyOf(firstOpen, weighing),
		silentGuess: guess && {
			method: guess.method,
			confidence: guess.confidence,
			score: guess.score,
			linkId: guess.candidate.linkId,
		},
		isCorrect: guess?.candidate.linkId === linkId,
	});
	if (guess !== null) {
		metrics.guess(organizationId, guess.confidence, guess.candidate.linkId === linkId);
	}

	countPhone(services, firstOpen, request, organizationId, 'token');
};
