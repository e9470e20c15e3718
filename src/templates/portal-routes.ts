import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {idParams, pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {newTemplate, templateChanges} from './template.ts';
import {templateAnswer} from './template-answer.ts';
import {createTemplate, deleteTemplate, getTemplate, listTemplates, updateTemplate} from './template-operations.ts';

export const portalTemplateRoutes = [
	route({
		method: 'GET',
		path: '/portal/templates',
		summary: 'List templates, newest first',
		answer: pageOf(templateAnswer),
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listTemplates(services, {organization, query}),
	}),

	route({
		method: 'POST',
		path: '/portal/templates',
		summary: 'Create a template',
		refusals: [409],
		answer: templateAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		body: newTemplate,
		status: 201,
		handler: ({services, organization, by, body}) => createTemplate(services, {organization, by, fields: body}),
	}),

	route({
		method: 'GET',
		path: '/portal/templates/:id',
		summary: 'Get a template',
		answer: templateAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, params: {id}}) => getTemplate(services, {organization, id}),
	}),

	route({
		method: 'PATCH',
		path: '/portal/templates/:id',
		summary: 'Change a template',
		refusals: [409],
		answer: templateAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		params: idParams,
		body: templateChanges,
		handler: ({services, organization, by, params: {id}, body}) =>
			updateTemplate(services, {organization, by, id, changes: body}),
	}),

	route({
		method: 'DELETE',
		path: '/portal/templates/:id',
		summary: 'Delete a template',
		refusals: [409],
		answer: deletedAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteTemplate(services, {organization, by, id}),
	}),
];
