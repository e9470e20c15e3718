import Joi from 'joi';
import {answerOf, instant, text, textOrNull, uuid} from '../../platform/http/answer.ts';

export const organizationFields = {
	id: uuid,
	orgKey: text,
	name: text,
	status: Joi.valid('ACTIVE', 'SUSPENDED'),
	plan: textOrNull,
	contactEmail: textOrNull,
	createdAt: instant,
};

/** An organization (contract/portal 1). */
export const organizationAnswer = answerOf('Organization', organizationFields);
