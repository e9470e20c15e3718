import {audited, type Caller} from '../../accounts/audit/audit-log.ts';
import {organizationRoute} from '../../accounts/auth/route.ts';
import type {Db} from '../../platform/db/db.ts';
import {required, templateNotFound, templatePathInUse, unknownChannel} from '../../platform/errors.ts';
import {answerOf, deletedAnswer, instant, pageOf, text, uuid} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import type {Services} from '../../services.ts';
import {channelExists} from '../channels/channel-store.ts';
import {sharedFieldAnswers} from '../links/link-answer.ts';
import {databaseFaults} from '../links/stored-faults.ts';
import {clientCreateAnswer} from './client-create.ts';
import {newTemplate, type Template, type TemplateInput, templateChanges} from './template.ts';
import {createTemplateStore} from './template-store.ts';

type Deps = Pick<Services, 'clock' | 'db'>;

type Write = {organization: {id: string}; by: Caller};

const isKnownChannel = async (trx: Db, {id}: {id: string}, channel: string | null | undefined): Promise<boolean> =>
	channel == null || channelExists(trx, id, channel);

/** @throws 400 for an unknown channel or a URL that loops, 409 if the name is in use. */
export const createTemplate = (services: Deps, {fields, ...target}: Write & {fields: TemplateInput}) => {
	return audited(services, 'Template', target, async ({trx, now, record}): Promise<Template> => {
		if (!(await isKnownChannel(trx, target.organization, fields.channel))) {
			throw unknownChannel(fields.channel ?? '');
		}

		const template = await createTemplateStore(trx, target.organization.id).insert(fields, now);
		await record('CREATE', template.id, {name: template.name});
		return template;
	});
};

/**
 * Applies `changes`, which may be empty.
 * @throws 404; 400 as createTemplate; 409 if the name is in use, or if links need the removed path.
 */
export const updateTemplate = (
	services: Deps,
	{id, changes, ...target}: Write & {id: string; changes: Partial<TemplateInput>},
) => {
	return audited(services, 'Template', target, async ({trx, now, record}): Promise<Template> => {
		const store = createTemplateStore(trx, target.organization.id);
		// Lock the channel before the template, in the order of a rename, to avoid a deadlock.
		const isKnown = await isKnownChannel(trx, target.organization, changes.channel);
		const template = required(await store.lock(id), templateNotFound);
		if (Object.keys(changes).length === 0) {
			return template;
		}

		// The label of a deleted channel may stay, but cannot be newly assigned.
		if (!isKnown && changes.channel !== template.channel) {
			throw unknownChannel(changes.channel ?? '');
		}

		if (changes.path === null && template.path !== null && (await store.givesPath(id))) {
			throw templatePathInUse();
		}

		const changed = await store.update(template, changes, now);
		const fields = Object.keys(changes) as Array<keyof TemplateInput>;
		await record('UPDATE', id, {
			name: changed.name,
			changes: Object.fromEntries(fields.map((field) => [field, {from: template[field], to: changed[field]}])),
		});
		return changed;
	});
};

/** @throws 404, 409 while links use it. */
export const deleteTemplate = (services: Deps, {id, ...target}: Write & {id: string}) =>
	audited(services, 'Template', target, async ({trx, record}) => {
		const {name} = required(await createTemplateStore(trx, target.organization.id).remove(id), templateNotFound);
		await record('DELETE', id, {name});
		return {id, deleted: true};
	});

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
	organizationRoute('GET', '/templates', {
		summary: 'List templates, newest first',
		answer: pageOf(templateAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createTemplateStore(services.db, organization.id).list(query),
	}),

	organizationRoute('POST', '/templates', {
		summary: 'Create a template',
		refusals: [409],
		answer: templateAnswer,
		role: 'developer',
		body: newTemplate,
		databaseFaults,
		status: 201,
		handler: ({services, organization, by, body}) => createTemplate(services, {organization, by, fields: body}),
	}),

	organizationRoute('GET', '/templates/:id', {
		summary: 'Get a template',
		answer: templateAnswer,
		role: 'viewer',
		params: idParams,
		handler: async ({services, organization, params: {id}}) =>
			required(await createTemplateStore(services.db, organization.id).find(id), templateNotFound),
	}),

	organizationRoute('PATCH', '/templates/:id', {
		summary: 'Change a template',
		refusals: [409],
		answer: templateAnswer,
		role: 'developer',
		params: idParams,
		body: templateChanges,
		databaseFaults,
		handler: ({services, organization, by, params: {id}, body}) =>
			updateTemplate(services, {organization, by, id, changes: body}),
	}),

	organizationRoute('DELETE', '/templates/:id', {
		summary: 'Delete a template',
		refusals: [409],
		answer: deletedAnswer,
		role: 'developer',
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteTemplate(services, {organization, by, id}),
	}),
].flat();
