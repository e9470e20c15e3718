import Joi from 'joi';
import {answerOf, anyObject, instant, partOf, text, textOrNull, uuid, uuidOrNull} from '../http/answer.ts';

/** A record of the audit log (contract/portal 8). */
export const auditAnswer = answerOf('AuditRecord', {
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
