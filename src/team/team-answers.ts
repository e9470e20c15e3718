import Joi from 'joi';
import {answerOf, instant, instantOrNull, text, textOrNull, uuid} from '../http/answer.ts';

const role = Joi.valid('VIEWER', 'ANALYST', 'DEVELOPER', 'ADMIN', 'OWNER');

// The shapes of contract/portal 1.
export const memberAnswer = answerOf('Member', {
	userId: uuid,
	email: textOrNull,
	name: textOrNull,
	role,
	joinedAt: instant,
});
export const removedMemberAnswer = answerOf('RemovedMember', {userId: uuid, deleted: Joi.valid(true)});
export const invitationAnswer = answerOf('Invitation', {
	id: text,
	email: text,
	role,
	status: text,
	createdAt: instant,
	expiresAt: instantOrNull,
});
