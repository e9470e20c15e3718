import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {idParams, pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {newDomain} from './domain.ts';
import {domainAnswer} from './domain-answer.ts';
import {addDomain, deleteDomain, listDomains, setDefaultDomain} from './domain-operations.ts';
import {verifyDomain} from './domain-verification.ts';

export const portalDomainRoutes = [
	route({
		method: 'GET',
		path: '/portal/domains',
		summary: 'List domains, newest first',
		answer: pageOf(domainAnswer),
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listDomains(services, {organization, query}),
	}),

	route({
		method: 'POST',
		path: '/portal/domains',
		summary: 'Add a domain',
		refusals: [402, 409],
		answer: domainAnswer,
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
		summary: 'Verify a domain by its TXT record',
		refusals: [402, 409],
		answer: domainAnswer,
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => verifyDomain(services, {organization, by, id}),
	}),

	route({
		method: 'POST',
		path: '/portal/domains/:id/default',
		summary: 'Make a domain the default for new links',
		refusals: [402, 409],
		answer: domainAnswer,
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => setDefaultDomain(services, {organization, by, id}),
	}),

	route({
		method: 'DELETE',
		path: '/portal/domains/:id',
		summary: 'Remove a domain',
		answer: deletedAnswer,
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteDomain(services, {organization, by, id}),
	}),
];
