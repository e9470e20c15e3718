import {route} from '../../../accounts/auth/route.ts';
import {orgParams, requireOrganization} from '../../../accounts/organizations/require-organization.ts';
import {booleanQuery, uuidParam} from '../../../platform/http/validate.ts';
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

export const statsRoutes = [
	route('GET', '/admin/organizations/:orgId/stats/funnel', {
		summary: 'Report what came of clicks, by one dimension',
		answer: funnelAnswer,
		credential: 'admin',
		params: orgParams,
		query: funnelQuery,
		handler: async ({services, params, query, request}) => {
			const {id: organizationId} = await requireOrganization(services, params.orgId);
			return readFunnel(services, {organizationId, hungUp: request.hungUp()}, query);
		},
	}),

	route('GET', '/admin/organizations/:orgId/stats', {
		summary: 'Report clicks, matches and events',
		answer: statsAnswer,
		credential: 'admin',
		params: orgParams,
		query: adminStatsQuery,
		handler: async ({services, params, query: {linkId, guesses, ...query}, request}) => {
			const hungUp = request.hungUp();
			const organization = await requireOrganization(services, params.orgId);
			if (linkId !== undefined) {
				return readLinkStats(services, {organization, id: linkId, query, hungUp});
			}

			const stats = await readCurrentStats(services, {organizationId: organization.id, linkId: null, hungUp}, query);
			return guesses ? {...stats, guesses: await readGrades(services.db, organization.id, stats)} : stats;
		},
	}),
];
