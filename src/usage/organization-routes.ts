import {answerOf, count, partOf} from '../http/answer.ts';
import {organizationRoute} from '../organizations/organization-route.ts';
import {readUsage} from './read-usage.ts';

const quota = partOf({used: count, limit: count.allow(null)});

/** Use of each quota; a `limit` of null is unlimited. */
const usageAnswer = answerOf('Usage', {links: quota, clicks: quota, members: quota, domains: quota});

export const usageRoutes = organizationRoute({
	method: 'GET',
	path: '/usage',
	summary: 'Use of each quota',
	answer: usageAnswer,
	role: 'viewer',
	handler: ({services, organization}) => readUsage(services, organization),
});
