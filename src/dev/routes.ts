import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {matchBody} from '../match/match-request.ts';
import {dryRunAnswer, sessionAnswer} from './dev-answers.ts';
import {dryRunMatch} from './dry-run-match.ts';
import {resolveSession} from './resolve-session.ts';

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
