import {route} from '../http/route.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {orgIdParams, orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {getAttempt, listAttempts} from './match-attempt-store.ts';

export const matchAttemptRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/matches',
		credential: 'admin',
		params: orgParams,
		query: pageQuerySchema,
		handler: async ({services, params, query}) => {
			const {id} = await requireOrganization(services, params.orgId);
			return listAttempts(services.db, id, query);
		},
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/matches/:id',
		credential: 'admin',
		params: orgIdParams,
		handler: async ({services, params}) => {
			const {id} = await requireOrganization(services, params.orgId);
			return getAttempt(services.db, id, params.id);
		},
	}),
];
