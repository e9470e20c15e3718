import Joi from 'joi';
import {answerOf, flag, instant, instantOrNull, text, textOrNull, uuid} from '../http/answer.ts';

const card = {
	id: uuid,
	tier: Joi.valid('CLIENT', 'SERVER'),
	prefix: text,
	displayKey: textOrNull,
	displayKeyFault: Joi.valid('OTHER_SECRET').optional(),
	createdAt: instant,
	expiresAt: instantOrNull,
	lastUsedAt: instantOrNull,
};

const keyCardAnswer = answerOf('KeyCard', card);

/** Both key cards (contract/api-keys 6). */
export const keyCardsAnswer = answerOf('KeyCards', {
	sdkKey: keyCardAnswer.allow(null),
	serverKey: keyCardAnswer.allow(null),
	locked: flag,
});

export const newKeyAnswer = answerOf('NewKey', {...card, rawKey: text});
