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

const cards = {sdkKey: keyCardAnswer.allow(null), serverKey: keyCardAnswer.allow(null), locked: flag};

/** Both key cards (contract/api-keys 6). */
export const keyCardsAnswer = answerOf('KeyCards', cards);

/** The operator sees the earlier keys, too, that are still accepted. */
export const allKeyCardsAnswer = answerOf('AllKeyCards', {...cards, earlier: Joi.array().items(keyCardAnswer)});

export const newKeyAnswer = answerOf('NewKey', {...card, rawKey: text});
