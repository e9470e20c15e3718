import {route} from '../http/route.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {listDevices} from './device-store.ts';

export const portalDeviceRoutes = [
	route({
		method: 'GET',
		path: '/portal/devices',
		credential: 'session',
		role: 'analyst',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listDevices(services.db, organization.id, query),
	}),
];
