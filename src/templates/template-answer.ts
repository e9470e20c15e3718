import {answerOf, count, flag, instant, text, uuid} from '../http/answer.ts';
import {sharedAnswerFields} from '../links/link-answer.ts';
import {clientCreateAnswer} from './client-create.ts';

/** A template (contract/links 4). */
export const templateAnswer = answerOf('Template', {
	id: uuid,
	name: text,
	...sharedAnswerFields,
	deferredDeepLinking: flag.allow(null),
	matchWindowHours: count.allow(null),
	clientCreate: clientCreateAnswer.optional(),
	createdAt: instant,
	updatedAt: instant,
});
