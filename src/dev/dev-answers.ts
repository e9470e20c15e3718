import Joi from 'joi';
import {answerOf, anyObject, flag, partOf, text, textOrNull, uuid} from '../http/answer.ts';
import {hitFields, missFields, unkeptAttemptAnswer} from '../match/match-answer.ts';
import {organizationAnswer} from '../organizations/organization-answer.ts';

const attempt = unkeptAttemptAnswer.allow(null);

/** The answer of `/match` and its explanation. */
export const dryRunAnswer = Joi.alternatives(
	answerOf('RehearsedMatch', {...hitFields, attempt}),
	answerOf('RehearsedNoMatch', {...missFields, attempt}),
);

export const sessionAnswer = answerOf('ResolvedSession', {
	claims: anyObject,
	session: partOf({
		userId: text,
		organizationId: textOrNull,
		role: Joi.valid('viewer', 'analyst', 'developer', 'admin', 'owner').allow(null),
		email: textOrNull,
		isPending: flag,
		isOps: flag,
	}),
	actor: partOf({type: text, id: textOrNull, name: textOrNull}),
	organization: organizationAnswer.allow(null),
	user: partOf({id: uuid, email: textOrNull, name: textOrNull}).allow(null),
	isMember: flag,
});
