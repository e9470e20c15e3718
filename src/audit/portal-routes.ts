import {route} from '../http/route.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {listAudit} from './audit-log.ts';

export const portalAuditRoutes = [
	route({
		method: 'GET',
		path: '/portal/audit-log',
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listAudit(services.db, organization.id, query),
	}),
];
