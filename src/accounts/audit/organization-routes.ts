import Joi from 'joi';
import {
	answerOf,
	anyObject,
	instant,
	pageOf,
	partOf,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../../platform/http/answer.ts';
import {pageQuerySchema} from '../../platform/http/validate.ts';
import {organizationRoute} from '../auth/route.ts';
import {listAudit} from './audit-log.ts';

/** A record of the audit log (contract/portal 8). */
const auditAnswer = answerOf('AuditRecord', {
	id: uuid,
	at: instant,
	action: text,
	entityType: text,
	entityId: textOrNull,
	actor: partOf({
		type: Joi.valid('ADMIN_PASSTHROUGH', 'ADMIN', 'USER', 'API_KEY', 'ADMIN_BEARER', 'SYSTEM'),
		id: textOrNull,
		name: textOrNull,
	}),
	organizationId: uuidOrNull,
	requestId: textOrNull,
	details: anyObject.allow(null),
});

export const auditRoutes = organizationRoute({
	method: 'GET',
	path: '/audit-log',
	summary: 'List audit records, newest first',
	answer: pageOf(auditAnswer),
	role: 'admin',
	query: pageQuerySchema,
	handler: ({services, organization, query}) => listAudit(services.db, organization.id, query),
});
