import Joi from 'joi';
import {answerOf, anyObject, flag, instant, text, textOrNull, uuid, uuidOrNull} from '../../platform/http/answer.ts';

// The answers of contract/sdk 1.
export const deviceSessionAnswer = answerOf('DeviceSession', {deviceId: text, sessionId: uuid, isNewDevice: flag});
export const identityAnswer = answerOf('DeviceIdentity', {deviceId: text, externalUserId: text});
export const clearedIdentityAnswer = answerOf('ClearedIdentity', {deviceId: text, externalUserId: Joi.valid(null)});
/** The fields of `POST /links` that the app needs. No more, because the key can be read out of the app. */
export const appLinkAnswer = answerOf('AppLink', {id: uuid, shortCode: text, url: text});
export const acceptedAnswer = answerOf('Accepted', {accepted: Joi.valid(true)});

export const eventAnswer = answerOf('Event', {
	id: uuid,
	eventId: textOrNull,
	eventName: text,
	/** Null if the event that registered the device was erased. */
	deviceId: textOrNull,
	properties: anyObject,
	linkId: uuidOrNull,
	occurredAt: instant,
	receivedAt: instant,
});
