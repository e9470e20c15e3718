import {
	answerOf,
	anyObject,
	instant,
	instantOrNull,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../../platform/http/answer.ts';

/** A device in the portal's list. */
export const deviceAnswer = answerOf('Device', {
	id: uuid,
	deviceId: text,
	platform: textOrNull,
	osVersion: textOrNull,
	deviceModel: textOrNull,
	appVersion: textOrNull,
	sdkVersion: textOrNull,
	language: textOrNull,
	timezone: textOrNull,
	sessionId: uuidOrNull,
	externalUserId: textOrNull,
	traits: anyObject.allow(null),
	matchedLinkId: uuidOrNull,
	matchedAt: instantOrNull,
	firstSeenAt: instant,
	lastSeenAt: instant,
});
