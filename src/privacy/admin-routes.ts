import {deviceIdField} from '../devices/device-fields.ts';
import {route} from '../http/route.ts';
import {orgParamsWith, requireOrganization} from '../organizations/require-organization.ts';
import {externalUserIdField} from '../sdk/sdk-fields.ts';
import type {DataSubject} from './data-subject.ts';
import {erasePersonalData} from './erase-personal-data.ts';
import {exportPersonalData} from './export-personal-data.ts';
import {erasedAnswer, personalDataAnswer} from './privacy-answers.ts';

const deviceParams = orgParamsWith<{deviceId: string}>({deviceId: deviceIdField.required()});
const userParams = orgParamsWith<{externalUserId: string}>({externalUserId: externalUserIdField.required()});

const deviceOf = ({deviceId}: {deviceId: string}): DataSubject => ({kind: 'device', deviceId});
const userOf = ({externalUserId}: {externalUserId: string}): DataSubject => ({kind: 'user', externalUserId});

export const privacyRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/devices/:deviceId/data',
		summary: 'Export all data of a device',
		answer: personalDataAnswer,
		credential: 'admin',
		params: deviceParams,
		handler: async ({services, params, request}) =>
			exportPersonalData(services, {
				organization: await requireOrganization(services, params.orgId),
				subject: deviceOf(params),
				request,
			}),
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId/devices/:deviceId/data',
		summary: 'Erase all data of a device',
		answer: erasedAnswer,
		credential: 'admin',
		params: deviceParams,
		handler: async ({services, by, params}) =>
			erasePersonalData(services, {
				organization: await requireOrganization(services, params.orgId),
				subject: deviceOf(params),
				by,
			}),
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/users/:externalUserId/data',
		summary: 'Export all data of a user',
		answer: personalDataAnswer,
		credential: 'admin',
		params: userParams,
		handler: async ({services, params, request}) =>
			exportPersonalData(services, {
				organization: await requireOrganization(services, params.orgId),
				subject: userOf(params),
				request,
			}),
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId/users/:externalUserId/data',
		summary: 'Erase all data of a user',
		answer: erasedAnswer,
		credential: 'admin',
		params: userParams,
		handler: async ({services, by, params}) =>
			erasePersonalData(services, {
				organization: await requireOrganization(services, params.orgId),
				subject: userOf(params),
				by,
			}),
	}),
];
