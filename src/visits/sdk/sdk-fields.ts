import Joi from 'joi';
import {linkFieldNames, linkFieldSchemas, newLink} from '../../links/links/link-schemas.ts';
import type {ClientFields} from '../../links/templates/client-create.ts';
import {
	answerOf,
	anyObject,
	flag,
	instant,
	oneOf,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../../platform/http/answer.ts';
import {isoDateTime, uuidField} from '../../platform/http/validate.ts';
import {deviceIdField, platformField, reportedField} from '../devices/device-fields.ts';
import type {DeviceFacts} from '../devices/device-store.ts';

/** An object of at most that many bytes as JSON. */
const objectOf = (maxBytes: number) =>
	Joi.object<Record<string, unknown>>()
		.unknown(true)
		.meta({schema: {description: `At most ${maxBytes} bytes serialized.`}})
		.custom((value: Record<string, unknown>, helpers) =>
			Buffer.byteLength(JSON.stringify(value)) <= maxBytes
				? value
				: helpers.message({custom: `{{#label}} must be shorter than or equal to ${maxBytes} bytes`}),
		);

const deviceId = deviceIdField.required();

/** Newer SDKs may send fields unknown to this server (contract/requests 4). */
const bodyOf = <T>(fields: Joi.PartialSchemaMap<T>) => Joi.object<T>(fields).options({stripUnknown: true});

type SessionFields = {deviceId: string} & DeviceFacts;
export const sessionBody = bodyOf<SessionFields>({
	deviceId,
	platform: platformField,
	osVersion: reportedField,
	deviceModel: reportedField,
	appVersion: reportedField,
	sdkVersion: reportedField,
	language: reportedField,
	timezone: reportedField,
});

/** The user that an app reports. */
export const externalUserIdField = Joi.string().min(1).max(255);

type IdentityFields = {deviceId: string; externalUserId: string; traits?: Record<string, unknown> | null};
export const identityBody = bodyOf<IdentityFields>({
	deviceId,
	externalUserId: externalUserIdField.required(),
	traits: objectOf(4096).allow(null),
});

export const deviceBody = bodyOf<{deviceId: string}>({deviceId});

type EventFields = {
	deviceId: string;
	eventName: string;
	properties?: Record<string, unknown> | null;
	eventId?: string | null;
	occurredAt?: Date | null;
	linkId?: string | null;
};
export const eventBody = bodyOf<EventFields>({
	deviceId,
	eventName: Joi.string().min(1).max(100).required(),
	properties: objectOf(10_240).allow(null),
	eventId: Joi.string().min(1).max(100).allow(null),
	occurredAt: isoDateTime().allow(null),
	linkId: uuidField.allow(null),
});

/** Refused and not ignored: an app that sends one would believe that it takes effect. */
const closedFields = Object.fromEntries(linkFieldNames.map((name) => [name, Joi.any().forbidden()]));

export type AppLinkFields = ClientFields & {deviceId: string; template: string};
export const appLinkBody = bodyOf<AppLinkFields>({
	...closedFields,
	deviceId,
	template: Joi.string().max(255).required(),
	params: newLink.extract('params'),
	title: newLink.extract('title'),
	path: linkFieldSchemas.path.allow(null),
});

// The answers of contract/sdk 1.
export const deviceSessionAnswer = answerOf('DeviceSession', {deviceId: text, sessionId: uuid, isNewDevice: flag});
export const identityAnswer = answerOf('DeviceIdentity', {deviceId: text, externalUserId: text});
export const clearedIdentityAnswer = answerOf('ClearedIdentity', {deviceId: text, externalUserId: oneOf(null)});
/** The fields of `POST /links` that the app needs. No more, because the key can be read out of the app. */
export const appLinkAnswer = answerOf('AppLink', {id: uuid, shortCode: text, url: text});
export const acceptedAnswer = answerOf('Accepted', {accepted: oneOf(true)});

export const eventAnswer = answerOf('Event', {
	id: uuid,
	eventId: textOrNull,
	eventName: text,
	/** Null if it has been erased. */
	deviceId: textOrNull,
	properties: anyObject,
	linkId: uuidOrNull,
	occurredAt: instant,
	receivedAt: instant,
});
