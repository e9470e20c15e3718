import {route} from '../../accounts/auth/route.ts';
import {limits} from '../../platform/config/limits.ts';
import {findMatch} from './find-match.ts';
import {matchBody, organizationOfKey} from './first-open.ts';
import {matchAnswer} from './match-answer.ts';

export const matchRoutes = [
	route('POST', '/match', {
		summary: 'Find the click that a first open came from',
		headers: {
			'X-API-Key': 'A CLIENT key limits guesses to its organization and attributes misses to it.',
			Origin: 'Requests from a browser without a valid CLIENT key match by token only.',
		},
		answer: matchAnswer,
		credential: 'none',
		limit: limits.match,
		body: matchBody,
		cors: true,
		organizationOf: organizationOfKey,
		handler: async ({services, request, body}) => {
			const answer = await findMatch(services, {
				fields: body,
				ip: request.ip,
				userAgent: request.headers['user-agent'],
				isOfWebPage: request.headers.origin !== undefined,
				organization: await organizationOfKey(services, request.headers),
			});
			services.metrics.match(answer.matchMethod, answer.matched ? answer.matchConfidence : 'none');
			return answer;
		},
	}),
];
