import Joi from 'joi';
import {adminRoute} from '../../accounts/auth/route.ts';
import {answerOf, anyObject, count, instant, partOf, text, uuid} from '../../platform/http/answer.ts';
import {deviceAnswer, deviceIdField} from '../devices/device-fields.ts';
import {attemptFields} from '../matches/match-answer.ts';
import {eventAnswer, externalUserIdField} from '../sdk/sdk-fields.ts';
import {erasePersonalData} from './erase-personal-data.ts';
import {exportPersonalData} from './export-personal-data.ts';
import type {DataSubject} from './personal-data-store.ts';

/** All data of a device or a user: `subject` has its `deviceId` or `externalUserId`. */
const personalDataAnswer = answerOf('PersonalData', {
	exportedAt: instant,
	organization: partOf({id: uuid, orgKey: text, name: text}),
	subject: partOf({deviceId: text.optional(), externalUserId: text.optional()}),
	devices: Joi.array().items(deviceAnswer),
	events: Joi.array().items(eventAnswer),
	matchAttempts: Joi.array().items(partOf({id: uuid, ...attemptFields, silentGuess: anyObject.allow(null)})),
	links: Joi.array().items(anyObject).optional(),
	deliveries: Joi.array().items(anyObject).optional(),
	clicks: Joi.array().items(anyObject),
});

/** Number of erased records of each kind. */
const erasedAnswer = answerOf('Erased', {
	deviceId: text.optional(),
	externalUserId: text.optional(),
	erased: partOf({
		devices: count,
		events: count,
		matchAttempts: count,
		clicks: count,
		links: count.optional(),
		deliveries: count.optional(),
	}),
});

/** The export and the erasure of a subject that the path names. */
const subjectRoutes = <P extends object>(
	path: string,
	name: string,
	params: Joi.ObjectSchema<P>,
	subjectOf: (params: P) => DataSubject,
) => [
	adminRoute('GET', path, {
		summary: `Export all data of a ${name}`,
		answer: personalDataAnswer,
		params,
		handler: ({services, organization, params, request}) =>
			exportPersonalData(services, {organization, subject: subjectOf(params), request}),
	}),

	adminRoute('DELETE', path, {
		summary: `Erase all data of a ${name}`,
		answer: erasedAnswer,
		params,
		handler: ({services, organization, by, params}) =>
			erasePersonalData(services, {organization, subject: subjectOf(params), by}),
	}),
];

const deviceParams = Joi.object<{deviceId: string}>({deviceId: deviceIdField.required()});
const userParams = Joi.object<{externalUserId: string}>({externalUserId: externalUserIdField.required()});

export const privacyRoutes = [
	...subjectRoutes('/devices/:deviceId/data', 'device', deviceParams, (named) => ({kind: 'device', ...named})),
	...subjectRoutes('/users/:externalUserId/data', 'user', userParams, (named) => ({kind: 'user', ...named})),
];
