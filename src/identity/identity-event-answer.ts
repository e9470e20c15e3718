import Joi from 'joi';
import {answerOf, count, instant, text, uuid} from '../http/answer.ts';

/** An event of the identity provider, as the operator reads the ledger. */
export const identityEventAnswer = answerOf('IdentityEvent', {
	id: uuid,
	eventKey: text,
	type: text,
	outcome: Joi.valid('APPLIED', 'IGNORED', 'FAILED'),
	reason: text,
	deliveries: count,
	receivedAt: instant,
	processedAt: instant,
});
