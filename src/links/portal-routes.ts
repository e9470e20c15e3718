import {limits} from '../limits/limits.ts';
import {linkRoutesOf} from './routes.ts';

export const portalLinkRoutes = linkRoutesOf({
	prefix: '/portal',
	credential: 'session',
	read: {role: 'viewer', limit: limits.portal},
	write: {role: 'developer', limit: limits.portal},
});
