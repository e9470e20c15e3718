import type {Services} from '../../services.ts';
import {clicksAtAddress} from './find-clicks.ts';
import type {FirstOpen, MatchRequest, SentToken} from './first-open.ts';
import type {GradedGuess} from './guess-grades.ts';
import {nobodyOf, sentTokenStates, signalsOf, tracesOf} from './note-attempt.ts';
import {scoreCandidates} from './score-candidates.ts';

/** A match by token: the click that the token proved, and the attempt that recorded it. */
type TokenMatch = {tokens: readonly SentToken[]; clickId: string; attemptId: string};

/**
 * The guess that would have been made without the token, and whether it names the link that the token proved.
 * @returns null if the click is gone.
 */
export const gradeGuess = async (
	services: Pick<Services, 'db' | 'linkPolicy' | 'phoneBook'>,
	firstOpen: FirstOpen,
	request: MatchRequest,
	{tokens, clickId, attemptId}: TokenMatch,
): Promise<GradedGuess | null> => {
	const around = await clicksAtAddress(services.db, firstOpen, tokens);
	const click = around.tokens.find(({id}) => id === clickId);
	if (click === undefined) {
		return null;
	}

	const weighing = await scoreCandidates(services, firstOpen, around, click);
	const {organizationId, linkId} = click;
	const {guess, neighbours} = weighing;
	return {
		id: attemptId,
		organizationId,
		deviceId: request.fields.deviceId ?? null,
		at: firstOpen.now,
		signals: signalsOf(request, sentTokenStates(tokens, around)),
		candidates: tracesOf({click, ruledOut: null}, weighing, firstOpen, organizationId),
		nobody: nobodyOf(firstOpen, weighing),
		silentGuess: guess && {
			method: guess.method,
			confidence: guess.confidence,
			score: guess.score,
			linkId: guess.candidate.linkId,
		},
		isCorrect: guess?.candidate.linkId === linkId,
		neighbours,
	};
};
