import {route} from '../http/route.ts';
import {uuidParam} from '../http/validate.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {readLinkStats} from './link-stats.ts';
import {readCurrentStats, type StatsQuery} from './stats.ts';
import {statsAnswer} from './stats-answer.ts';
import {statsQuery} from './stats-query.ts';

/** With `linkId`, one link's report: the operator's form of the portal's `/portal/links/:id/stats`. */
const adminStatsQuery = statsQuery.append<StatsQuery & {linkId?: string}>({linkId: uuidParam.optional()});

export const statsRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/stats',
		summary: 'Report clicks, matches and events',
		answer: statsAnswer,
		credential: 'admin',
		params: orgParams,
		query: adminStatsQuery,
		handler: async ({services, params, query: {linkId, ...query}}) => {
			const organization = await requireOrganization(services, params.orgId);
			return linkId === undefined
				? readCurrentStats(services, {organizationId: organization.id, linkId: null}, query)
				: readLinkStats(services, {organization, id: linkId, query});
		},
	}),
];
