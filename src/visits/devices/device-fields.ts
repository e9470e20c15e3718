import Joi from 'joi';
import {
	answerOf,
	anyObject,
	instant,
	instantOrNull,
	orNull,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../../platform/http/answer.ts';
import {cutText} from '../../platform/text.ts';
import {MAX_DEVICE_ID, MIN_DEVICE_ID} from './device-id.ts';

/** The empty text gets the message of a short one. Custom messages would be merged with the others for each value. */
const tooShort = (errors: Joi.ErrorReport[]): Joi.ErrorReport[] =>
	errors.map((error) =>
		error.code === 'string.empty'
			? Object.assign(error, {
					message: `${error.local.label} must be longer than or equal to ${MIN_DEVICE_ID} characters`,
				})
			: error,
	);

/** The device id assigned by an app (contract/sdk 2). */
export const deviceIdField = Joi.string().min(MIN_DEVICE_ID).max(MAX_DEVICE_ID).error(tooShort);

const TEXT_LIMIT = 100;

/** A property that a device reports: truncated if too long, never refused (contract/match 9). */
export const reportedField = Joi.string()
	.allow('', null)
	.meta({schema: {description: `Cut to ${TEXT_LIMIT} characters.`}})
	.custom((text: string) => cutText(text, TEXT_LIMIT));

const platformNames: Readonly<Record<string, string>> = {ios: 'iOS', android: 'Android'};

/** The platform, spelled as `/match` spells it: apps send `ios`, too. */
export const platformField = reportedField.custom((text: string) => {
	const name = text.trim();
	return platformNames[name.toLowerCase()] ?? (name || null);
});

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
	traits: orNull(anyObject),
	matchedLinkId: uuidOrNull,
	matchedAt: instantOrNull,
	firstSeenAt: instant,
	lastSeenAt: instant,
});
