import {adminRoute, organizationRoute} from '../../accounts/auth/route.ts';
import {deletedAnswer, pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import {configureDomain, domainChanges} from './configure-domain.ts';
import {domainAnswer, newDomain, unknownCodeAnswer} from './domain.ts';
import {addDomain, deleteDomain, listDomains, readUnknownCodes, setDefaultDomain} from './domain-operations.ts';
import {approveDomain, rejectDomain, verifyDomain} from './domain-verification.ts';

const change = {answer: domainAnswer, role: 'admin', params: idParams} as const;

export const domainRoutes = [
	organizationRoute('GET', '/domains', {
		summary: 'List domains, newest first',
		answer: pageOf(domainAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listDomains(services, {organization, query}),
	}),

	organizationRoute('POST', '/domains', {
		summary: 'Add a domain',
		refusals: [402, 403, 409],
		answer: domainAnswer,
		role: 'admin',
		body: newDomain,
		status: 201,
		handler: ({services, organization, by, body}) => addDomain(services, {organization, by, hostname: body.hostname}),
	}),

	organizationRoute('POST', '/domains/:id/verify', {
		summary: 'Verify a domain by its TXT record',
		refusals: [402, 403, 409, 502],
		...change,
		handler: ({services, organization, by, params: {id}}) => verifyDomain(services, {organization, by, id}),
	}),

	adminRoute('POST', '/domains/:id/approve', {
		summary: 'Approve a domain without its TXT record',
		refusals: [402, 403, 409],
		answer: domainAnswer,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => approveDomain(services, {organization, by, id}),
	}),

	adminRoute('POST', '/domains/:id/reject', {
		summary: 'Reject a domain',
		answer: domainAnswer,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => rejectDomain(services, {organization, by, id}),
	}),

	organizationRoute('POST', '/domains/:id/default', {
		summary: 'Make a domain the default for new links',
		refusals: [402, 403, 409],
		...change,
		handler: ({services, organization, by, params: {id}}) => setDefaultDomain(services, {organization, by, id}),
	}),

	organizationRoute('PATCH', '/domains/:id', {
		summary: 'Change the redirects of old addresses of a domain',
		...change,
		body: domainChanges,
		handler: ({services, organization, by, params: {id}, body}) =>
			configureDomain(services, {organization, by, id, changes: body}),
	}),

	organizationRoute('GET', '/domains/:id/unknown-codes', {
		summary: 'List the unknown codes of a domain, most visits first',
		answer: pageOf(unknownCodeAnswer),
		role: 'viewer',
		params: idParams,
		query: pageQuerySchema,
		handler: ({services, organization, params: {id}, query}) => readUnknownCodes(services, {organization, id, query}),
	}),

	organizationRoute('DELETE', '/domains/:id', {
		summary: 'Remove a domain',
		answer: deletedAnswer,
		role: 'admin',
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteDomain(services, {organization, by, id}),
	}),
].flat();
