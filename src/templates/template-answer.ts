import {answerOf, count, flag, instant, text, uuid} from '../http/answer.ts';
import {sharedAnswerFields} from '../links/link-answer.ts';

/** A template (contract/links 4). */
export const templateAnswer = answerOf('Template', {
	id: uuid,
	name: text,
	...sharedAnswerFields,
	deferredDeepLinking: flag.allow(null),
	matchWindowHours: count.allow(null),
	createdAt: instant,
	updatedAt: instant,
});
