import Joi from 'joi';
import {deviceIdField} from '../devices/device-fields.ts';
import {adminRoute} from '../organizations/organization-route.ts';
import {externalUserIdField} from '../sdk/sdk-fields.ts';
import type {DataSubject} from './data-subject.ts';
import {erasePersonalData} from './erase-personal-data.ts';
import {exportPersonalData} from './export-personal-data.ts';
import {erasedAnswer, personalDataAnswer} from './privacy-answers.ts';

/** The export and the erasure of a subject that the path names. */
const subjectRoutes = <P extends object>(
	path: string,
	name: string,
	params: Joi.ObjectSchema<P>,
	subjectOf: (params: P) => DataSubject,
) => [
	adminRoute({
		method: 'GET',
		path,
		summary: `Export all data of a ${name}`,
		answer: personalDataAnswer,
		params,
		handler: ({services, organization, params, request}) =>
			exportPersonalData(services, {organization, subject: subjectOf(params), request}),
	}),

	adminRoute({
		method: 'DELETE',
		path,
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
