import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuerySchema, uuidParam} from '../http/validate.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {newTemplate, templateChanges} from './template.ts';
import {templateAnswer} from './template-answer.ts';
import {createTemplate, deleteTemplate, getTemplate, listTemplates, updateTemplate} from './template-operations.ts';

const params = orgParams.append<{orgId: string; id: string}>({id: uuidParam});

export const templateRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/templates',
		summary: 'List templates, newest first',
		answer: pageOf(templateAnswer),
		credential: 'admin',
		params: orgParams,
		query: pageQuerySchema,
		handler: async ({services, params: {orgId}, query}) =>
			listTemplates(services, {organization: await requireOrganization(services, orgId), query}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/templates',
		summary: 'Create a template',
		refusals: [409],
		answer: templateAnswer,
		credential: 'admin',
		params: orgParams,
		body: newTemplate,
		status: 201,
		handler: async ({services, by, params: {orgId}, body}) =>
			createTemplate(services, {organization: await requireOrganization(services, orgId), by, fields: body}),
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/templates/:id',
		summary: 'Get a template',
		answer: templateAnswer,
		credential: 'admin',
		params,
		handler: async ({services, params: {orgId, id}}) =>
			getTemplate(services, {organization: await requireOrganization(services, orgId), id}),
	}),

	route({
		method: 'PATCH',
		path: '/admin/organizations/:orgId/templates/:id',
		summary: 'Change a template',
		refusals: [409],
		answer: templateAnswer,
		credential: 'admin',
		params,
		body: templateChanges,
		handler: async ({services, by, params: {orgId, id}, body}) =>
			updateTemplate(services, {organization: await requireOrganization(services, orgId), by, id, changes: body}),
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId/templates/:id',
		summary: 'Delete a template',
		refusals: [409],
		answer: deletedAnswer,
		credential: 'admin',
		params,
		handler: async ({services, by, params: {orgId, id}}) =>
			deleteTemplate(services, {organization: await requireOrganization(services, orgId), by, id}),
	}),
];
