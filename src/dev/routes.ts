import Joi from 'joi';
import {answerOf, anyObject, flag, partOf, text, textOrNull, uuid} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {hitFields, missFields, unkeptAttemptAnswer} from '../match/match-answer.ts';
import {matchBody} from '../match/match-request.ts';
import {organizationAnswer} from '../organizations/organization-answer.ts';
import {dryRunMatch} from './dry-run-match.ts';
import {resolveSession} from './resolve-session.ts';

const attempt = unkeptAttemptAnswer.allow(null);

/** The answer of `/match` and its explanation. */
const dryRunAnswer = Joi.alternatives(
	answerOf('RehearsedMatch', {...hitFields, attempt}),
	answerOf('RehearsedNoMatch', {...missFields, attempt}),
);

const sessionAnswer = answerOf('ResolvedSession', {
	claims: anyObject,
	session: partOf({
		userId: text,
		organizationId: textOrNull,
		role: Joi.valid('viewer', 'analyst', 'developer', 'admin', 'owner').allow(null),
		email: textOrNull,
		isPending: flag,
		isOps: flag,
	}),
	actor: partOf({type: text, id: textOrNull, name: textOrNull}),
	organization: organizationAnswer.allow(null),
	user: partOf({id: uuid, email: textOrNull, name: textOrNull}).allow(null),
	isMember: flag,
});

/** The sandbox of the ops organization (contract/portal 9). */
export const devRoutes = [
	route({
		method: 'GET',
		path: '/dev/session',
		summary: 'Show the claims of a session and what they resolve to',
		answer: sessionAnswer,
		credential: 'ops',
		limit: limits.portal,
		handler: ({services, session, by}) => resolveSession(services, session, by),
	}),

	route({
		method: 'POST',
		path: '/dev/match',
		summary: 'Rehearse a match',
		headers: {'X-API-Key': 'A CLIENT key limits guesses to its organization and attributes misses to it.'},
		answer: dryRunAnswer,
		credential: 'ops',
		limit: limits.portal,
		body: matchBody,
		handler: ({services, request, body}) =>
			dryRunMatch(services, {fields: body, ip: request.ip, rawKey: request.headers['x-api-key']}),
	}),
];
