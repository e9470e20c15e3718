import {route} from '../http/route.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {readStats} from './stats.ts';
import {statsQuery} from './stats-query.ts';

export const statsRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/stats',
		credential: 'admin',
		params: orgParams,
		query: statsQuery,
		handler: async ({services, params, query}) => {
			const {id} = await requireOrganization(services, params.orgId);
			return readStats(services.db, {organizationId: id, linkId: null}, query, services.clock.now());
		},
	}),
];
