import {route} from '../http/route.ts';
import {idParams, pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {newDomain} from './domain.ts';
import {addDomain, deleteDomain, listDomains, setDefaultDomain} from './domain-operations.ts';
import {verifyDomain} from './domain-verification.ts';

export const portalDomainRoutes = [
	route({
		method: 'GET',
		path: '/portal/domains',
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listDomains(services, {organization, query}),
	}),

	route({
		method: 'POST',
		path: '/portal/domains',
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		body: newDomain,
		status: 201,
		handler: ({services, organization, by, body}) => addDomain(services, {organization, by, hostname: body.hostname}),
	}),

	route({
		method: 'POST',
		path: '/portal/domains/:id/verify',
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => verifyDomain(services, {organization, by, id}),
	}),

	route({
		method: 'POST',
		path: '/portal/domains/:id/default',
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => setDefaultDomain(services, {organization, by, id}),
	}),

	route({
		method: 'DELETE',
		path: '/portal/domains/:id',
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteDomain(services, {organization, by, id}),
	}),
];
