import {answerOf, count, partOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {readUsage} from './read-usage.ts';

const quota = partOf({used: count, limit: count.allow(null)});

/** Use of each quota; a `limit` of null is unlimited. */
const usageAnswer = answerOf('Usage', {links: quota, clicks: quota, members: quota, domains: quota});

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
