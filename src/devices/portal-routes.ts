import {pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {deviceAnswer} from './device-answer.ts';
import {listDevices} from './device-store.ts';

export const portalDeviceRoutes = [
	route({
		method: 'GET',
		path: '/portal/devices',
		summary: 'List devices, newest first',
		answer: pageOf(deviceAnswer),
		credential: 'session',
		role: 'analyst',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listDevices(services.db, organization.id, query),
	}),
];
