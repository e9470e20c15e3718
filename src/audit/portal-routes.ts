import {pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {auditAnswer} from './audit-answer.ts';
import {listAudit} from './audit-log.ts';

export const portalAuditRoutes = [
	route({
		method: 'GET',
		path: '/portal/audit-log',
		summary: 'List audit records, newest first',
		answer: pageOf(auditAnswer),
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listAudit(services.db, organization.id, query),
	}),
];
