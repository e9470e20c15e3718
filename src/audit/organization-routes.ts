import {pageOf} from '../http/answer.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {organizationRoute} from '../organizations/organization-route.ts';
import {auditAnswer} from './audit-answer.ts';
import {listAudit} from './audit-log.ts';

export const auditRoutes = organizationRoute({
	method: 'GET',
	path: '/audit-log',
	summary: 'List audit records, newest first',
	answer: pageOf(auditAnswer),
	role: 'admin',
	query: pageQuerySchema,
	handler: ({services, organization, query}) => listAudit(services.db, organization.id, query),
});
