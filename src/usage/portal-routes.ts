import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {readUsage} from './read-usage.ts';
import {usageAnswer} from './usage-answer.ts';

export const portalUsageRoutes = [
	route({
		method: 'GET',
		path: '/portal/usage',
		summary: 'Use of each quota',
		answer: usageAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		handler: ({services, organization}) => readUsage(services, organization),
	}),
];
