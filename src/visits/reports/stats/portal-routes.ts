import {route} from '../../../accounts/auth/route.ts';
import {limits} from '../../../platform/config/limits.ts';
import {idParams} from '../../../platform/http/validate.ts';
import {readFunnel} from './funnel.ts';
import {readCurrentStats, readLinkStats} from './stats.ts';
import {funnelAnswer, funnelQuery, statsAnswer, statsQuery} from './stats-query.ts';

export const portalStatsRoutes = [
	route('GET', '/portal/dashboard', {
		summary: 'Report clicks, matches and events',
		answer: statsAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: statsQuery,
		handler: ({services, organization, query, request}) =>
			readCurrentStats(services, {organizationId: organization.id, linkId: null, hungUp: request.hungUp()}, query),
	}),

	route('GET', '/portal/funnel', {
		summary: 'Report what came of clicks, by one dimension',
		answer: funnelAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: funnelQuery,
		handler: ({services, organization, query, request}) =>
			readFunnel(services, {organizationId: organization.id, hungUp: request.hungUp()}, query),
	}),

	route('GET', '/portal/links/:id/stats', {
		summary: 'Report clicks, matches and events of a link',
		answer: statsAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		params: idParams,
		query: statsQuery,
		handler: ({services, organization, params: {id}, query, request}) =>
			readLinkStats(services, {organization, id, query, hungUp: request.hungUp()}),
	}),
];
