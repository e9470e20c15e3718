import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuerySchema, uuidParam} from '../http/validate.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {newDomain} from './domain.ts';
import {domainAnswer} from './domain-answer.ts';
import {addDomain, deleteDomain, listDomains, setDefaultDomain} from './domain-operations.ts';
import {approveDomain, rejectDomain, verifyDomain} from './domain-verification.ts';

const params = orgParams.append<{orgId: string; id: string}>({id: uuidParam});

export const domainRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/domains',
		summary: 'List domains, newest first',
		answer: pageOf(domainAnswer),
		credential: 'admin',
		params: orgParams,
		query: pageQuerySchema,
		handler: async ({services, params: {orgId}, query}) =>
			listDomains(services, {organization: await requireOrganization(services, orgId), query}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/domains',
		summary: 'Add a domain',
		refusals: [402, 403, 409],
		answer: domainAnswer,
		credential: 'admin',
		params: orgParams,
		body: newDomain,
		status: 201,
		handler: async ({services, by, params: {orgId}, body}) =>
			addDomain(services, {organization: await requireOrganization(services, orgId), by, hostname: body.hostname}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/domains/:id/verify',
		summary: 'Verify a domain by its TXT record',
		refusals: [402, 403, 409, 502],
		answer: domainAnswer,
		credential: 'admin',
		params,
		handler: async ({services, by, params: {orgId, id}}) =>
			verifyDomain(services, {organization: await requireOrganization(services, orgId), by, id}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/domains/:id/approve',
		summary: 'Approve a domain without its TXT record',
		refusals: [402, 403, 409],
		answer: domainAnswer,
		credential: 'admin',
		params,
		handler: async ({services, by, params: {orgId, id}}) =>
			approveDomain(services, {organization: await requireOrganization(services, orgId), by, id}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/domains/:id/reject',
		summary: 'Reject a domain',
		answer: domainAnswer,
		credential: 'admin',
		params,
		handler: async ({services, by, params: {orgId, id}}) =>
			rejectDomain(services, {organization: await requireOrganization(services, orgId), by, id}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/domains/:id/default',
		summary: 'Make a domain the default for new links',
		refusals: [402, 403, 409],
		answer: domainAnswer,
		credential: 'admin',
		params,
		handler: async ({services, by, params: {orgId, id}}) =>
			setDefaultDomain(services, {organization: await requireOrganization(services, orgId), by, id}),
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId/domains/:id',
		summary: 'Remove a domain',
		answer: deletedAnswer,
		credential: 'admin',
		params,
		handler: async ({services, by, params: {orgId, id}}) =>
			deleteDomain(services, {organization: await requireOrganization(services, orgId), by, id}),
	}),
];
