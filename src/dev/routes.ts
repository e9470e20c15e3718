import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {matchBody} from '../match/match-request.ts';
import {rehearseMatch} from './rehearse-match.ts';
import {resolveSession} from './resolve-session.ts';

/** The sandbox of the ops organization (decisions 8). */
export const devRoutes = [
	route({
		method: 'GET',
		path: '/dev/session',
		credential: 'ops',
		limit: limits.portal,
		handler: ({services, session, by}) => resolveSession(services, session, by),
	}),

	route({
		method: 'POST',
		path: '/dev/match',
		credential: 'ops',
		limit: limits.portal,
		body: matchBody,
		handler: ({services, request, body}) =>
			rehearseMatch(services, {fields: body, ip: request.ip, rawKey: request.headers['x-api-key']}),
	}),
];
