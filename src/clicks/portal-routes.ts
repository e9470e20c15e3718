import {route} from '../http/route.ts';
import {idParams} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {readLinkStats} from './link-stats.ts';
import {readCurrentStats} from './stats.ts';
import {statsQuery} from './stats-query.ts';

export const portalStatsRoutes = [
	route({
		method: 'GET',
		path: '/portal/dashboard',
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: statsQuery,
		handler: ({services, organization, query}) =>
			readCurrentStats(services, {organizationId: organization.id, linkId: null}, query),
	}),

	route({
		method: 'GET',
		path: '/portal/links/:id/stats',
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		params: idParams,
		query: statsQuery,
		handler: ({services, organization, params: {id}, query}) => readLinkStats(services, {organization, id, query}),
	}),
];
