import Joi from 'joi';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {pageOf} from '../../platform/http/answer.ts';
import {pageQuerySchema} from '../../platform/http/validate.ts';
import {deviceAnswer, deviceIdField} from './device-fields.ts';
import {getDevice, listDevices} from './device-store.ts';

const deviceParams = Joi.object<{deviceId: string}>({deviceId: deviceIdField.required()});

export const deviceRoutes = [
	organizationRoute('GET', '/devices', {
		summary: 'List devices, newest first',
		answer: pageOf(deviceAnswer),
		role: 'analyst',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listDevices(services.db, organization.id, query),
	}),

	organizationRoute('GET', '/devices/:deviceId', {
		summary: 'Get a device, by the id that the app gave it',
		answer: deviceAnswer,
		role: 'analyst',
		params: deviceParams,
		handler: ({services, organization, params: {deviceId}}) => getDevice(services.db, organization.id, deviceId),
	}),
].flat();
