import {organizationRoute} from '../../accounts/auth/route.ts';
import {required, templateNotFound} from '../../platform/errors.ts';
import {answerOf, deletedAnswer, instant, pageOf, text, uuid} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import {sharedFieldAnswers} from '../links/link-answer.ts';
import {storedFaults} from '../links/stored-faults.ts';
import {clientCreateAnswer} from './client-create.ts';
import {newTemplate, templateChanges} from './template.ts';
import {createTemplate, deleteTemplate, updateTemplate} from './template-operations.ts';
import {createTemplateStore} from './template-store.ts';

/** A template (contract/links 4). */
const templateAnswer = answerOf('Template', {
	id: uuid,
	name: text,
	...sharedFieldAnswers,
	clientCreate: clientCreateAnswer.optional(),
	createdAt: instant,
	updatedAt: instant,
});

export const templateRoutes = [
	organizationRoute({
		method: 'GET',
		path: '/templates',
		summary: 'List templates, newest first',
		answer: pageOf(templateAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createTemplateStore(services.db, organization.id).list(query),
	}),

	organizationRoute({
		method: 'POST',
		path: '/templates',
		summary: 'Create a template',
		refusals: [409],
		answer: templateAnswer,
		role: 'developer',
		body: newTemplate,
		storedFaults,
		status: 201,
		handler: ({services, organization, by, body}) => createTemplate(services, {organization, by, fields: body}),
	}),

	organizationRoute({
		method: 'GET',
		path: '/templates/:id',
		summary: 'Get a template',
		answer: templateAnswer,
		role: 'viewer',
		params: idParams,
		handler: async ({services, organization, params: {id}}) =>
			required(await createTemplateStore(services.db, organization.id).find(id), templateNotFound),
	}),

	organizationRoute({
		method: 'PATCH',
		path: '/templates/:id',
		summary: 'Change a template',
		refusals: [409],
		answer: templateAnswer,
		role: 'developer',
		params: idParams,
		body: templateChanges,
		storedFaults,
		handler: ({services, organization, by, params: {id}, body}) =>
			updateTemplate(services, {organization, by, id, changes: body}),
	}),

	organizationRoute({
		method: 'DELETE',
		path: '/templates/:id',
		summary: 'Delete a template',
		refusals: [409],
		answer: deletedAnswer,
		role: 'developer',
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteTemplate(services, {organization, by, id}),
	}),
].flat();
