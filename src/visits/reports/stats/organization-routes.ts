import {adminRoute, organizationRoute, portalRoute} from '../../../accounts/auth/route.ts';
import {booleanQuery, idParams, uuidParam} from '../../../platform/http/validate.ts';
import {readGrades} from '../../matches/guess-grades.ts';
import {readFunnel} from './funnel.ts';
import {readCurrentStats, readLinkStats} from './stats.ts';
import type {StatsQuery} from './stats-bounds.ts';
import {funnelAnswer, funnelQuery, statsAnswer, statsQuery} from './stats-query.ts';

/**
 * With `linkId`, one link's report: the operator's form of the portal's `/portal/links/:id/stats`. With `guesses`, also how
 * often an organization's guesses were correct when a token proved the link.
 */
const adminStatsQuery = statsQuery.append<StatsQuery & {linkId?: string; guesses: boolean}>({
	linkId: uuidParam.optional(),
	guesses: booleanQuery.default(false),
});

const [adminFunnel, portalFunnel] = organizationRoute('GET', '/stats/funnel', {
	portalPath: '/funnel',
	summary: 'Report what came of clicks, by one dimension',
	answer: funnelAnswer,
	role: 'viewer',
	query: funnelQuery,
	handler: ({services, organization, query, request}) =>
		readFunnel(services, {organizationId: organization.id, hungUp: request.hungUp()}, query),
});

const organizationStats = {summary: 'Report clicks, matches and events', answer: statsAnswer} as const;

export const statsRoutes = [
	adminFunnel,

	adminRoute('GET', '/stats', {
		...organizationStats,
		query: adminStatsQuery,
		handler: async ({services, organization, query: {linkId, guesses, ...query}, request}) => {
			const hungUp = request.hungUp();
			if (linkId !== undefined) {
				return readLinkStats(services, {organization, id: linkId, query, hungUp});
			}

			const stats = await readCurrentStats(services, {organizationId: organization.id, linkId: null, hungUp}, query);
			return guesses ? {...stats, guesses: await readGrades(services.db, organization.id, stats)} : stats;
		},
	}),
];

export const portalStatsRoutes = [
	portalRoute('GET', '/dashboard', {
		...organizationStats,
		role: 'viewer',
		query: statsQuery,
		handler: ({services, organization, query, request}) =>
			readCurrentStats(services, {organizationId: organization.id, linkId: null, hungUp: request.hungUp()}, query),
	}),

	portalFunnel,

	portalRoute('GET', '/links/:id/stats', {
		summary: 'Report clicks, matches and events of a link',
		answer: statsAnswer,
		role: 'viewer',
		params: idParams,
		query: statsQuery,
		handler: ({services, organization, params: {id}, query, request}) =>
			readLinkStats(services, {organization, id, query, hungUp: request.hungUp()}),
	}),
];
