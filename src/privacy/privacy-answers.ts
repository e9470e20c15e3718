import Joi from 'joi';
import {deviceAnswer} from '../devices/device-answer.ts';
import {answerOf, anyObject, count, instant, partOf, text, uuid} from '../http/answer.ts';
import {attemptFields} from '../match/match-answer.ts';
import {eventAnswer} from '../sdk/sdk-answers.ts';

/** All data of a device or a user: `subject` has its `deviceId` or `externalUserId`. */
export const personalDataAnswer = answerOf('PersonalData', {
	exportedAt: instant,
	organization: partOf({id: uuid, orgKey: text, name: text}),
	subject: partOf({deviceId: text.optional(), externalUserId: text.optional()}),
	devices: Joi.array().items(deviceAnswer),
	events: Joi.array().items(eventAnswer),
	matchAttempts: Joi.array().items(partOf({id: uuid, ...attemptFields, silentGuess: anyObject.allow(null)})),
	links: Joi.array().items(anyObject).optional(),
	clicks: Joi.array().items(anyObject),
});

/** Number of erased records of each kind. */
export const erasedAnswer = answerOf('Erased', {
	deviceId: text.optional(),
	externalUserId: text.optional(),
	erased: partOf({devices: count, events: count, matchAttempts: count, clicks: count, links: count.optional()}),
});
