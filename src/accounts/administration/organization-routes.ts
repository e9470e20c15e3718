import Joi from 'joi';
import {MODERATION} from '../../platform/config/operator-scopes.ts';
import {
	answerOf,
	anyObject,
	deletedAnswer,
	instant,
	pageOf,
	partOf,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../../platform/http/answer.ts';
import {pageQuery, pageQuerySchema} from '../../platform/http/validate.ts';
import {listAudit} from '../audit/audit-log.ts';
import {adminRoute, organizationRoute, route} from '../auth/route.ts';
import {setOrganizationPlan} from '../billing/set-plan.ts';
import {
	contactEmail,
	organizationAnswer,
	organizationChanges,
	organizationName,
	planField,
} from '../organizations/organization-schemas.ts';
import {createOrganizationStore, organizationJson} from '../organizations/organization-store.ts';
import {requireScope} from '../tokens/operator-access.ts';
import {
	createOrganization,
	deleteOrganization,
	setOrganizationStatus,
	updateOrganization,
} from './organization-operations.ts';

const plan = planField.allow(null);

const newOrganization = Joi.object<{name: string; contactEmail?: string | null; plan?: string | null}>({
	name: organizationName.required(),
	contactEmail,
	plan,
});
const planChange = Joi.object<{plan: string | null}>({plan: plan.required()});
const listQuery = Joi.object<{page: number; limit: number; q?: string; owns?: string}>({
	...pageQuery,
	q: Joi.string().max(255),
	owns: Joi.string().max(255),
});

export const organizationRoutes = [
	route('GET', '/admin/organizations', {
		summary: 'List organizations, newest first',
		description:
			'`owns` lists those that have a webhook endpoint, template, channel, API key or domain of this id, a domain of this host name, or a key with these first 16 characters.',
		answer: pageOf(organizationAnswer),
		credential: 'admin',
		query: listQuery,
		handler: async ({services, query}) => {
			const found = await createOrganizationStore(services.db).list(query);
			return {...found, data: found.data.map(organizationJson)};
		},
	}),

	route('POST', '/admin/organizations', {
		summary: 'Create an organization',
		description: 'With a plan it wants the scope `moderation`, too.',
		refusals: [409],
		answer: organizationAnswer,
		credential: 'admin',
		body: newOrganization,
		status: 201,
		handler: async ({services, by, operator, body}) => {
			if (body.plan != null) {
				requireScope(operator, MODERATION);
			}

			return organizationJson(await createOrganization(services, {fields: body, by}));
		},
	}),

	organizationRoute('GET', '', {
		portalPath: '/organization',
		summary: 'Get the organization',
		answer: organizationAnswer,
		role: 'viewer',
		handler: ({organization}) => organizationJson(organization),
	}),

	organizationRoute('PATCH', '', {
		portalPath: '/organization',
		summary: 'Change the organization',
		refusals: [409],
		answer: organizationAnswer,
		role: 'admin',
		body: organizationChanges,
		handler: async ({services, organization, by, body}) =>
			organizationJson(await updateOrganization(services, {organization, by, changes: body})),
	}),

	organizationRoute('DELETE', '', {
		portalPath: '/organization',
		summary: 'Delete the organization and all its data',
		refusals: [409, 502],
		answer: deletedAnswer,
		role: 'owner',
		handler: ({services, organization, by}) => deleteOrganization(services, {organization, by}),
	}),

	adminRoute('POST', '/suspend', {
		summary: 'Suspend an organization',
		answer: organizationAnswer,
		handler: async ({services, organization, by}) =>
			organizationJson(await setOrganizationStatus(services, {organization, by}, 'SUSPENDED')),
	}),

	adminRoute('POST', '/activate', {
		summary: 'Activate an organization',
		answer: organizationAnswer,
		handler: async ({services, organization, by}) =>
			organizationJson(await setOrganizationStatus(services, {organization, by}, 'ACTIVE')),
	}),

	adminRoute('PUT', '/plan', {
		summary: 'Set the plan of an organization',
		refusals: [409, 502],
		answer: organizationAnswer,
		body: planChange,
		handler: async ({services, organization, by, body}) =>
			organizationJson(await setOrganizationPlan(services, {organization, by, plan: body.plan})),
	}),
].flat();

/** A record of the audit log (contract/portal 8). */
const auditAnswer = answerOf('AuditRecord', {
	id: uuid,
	at: instant,
	action: text,
	entityType: text,
	entityId: textOrNull,
	actor: partOf({
		type: Joi.valid('ADMIN_PASSTHROUGH', 'ADMIN', 'USER', 'API_KEY', 'ADMIN_BEARER', 'SYSTEM'),
		id: textOrNull,
		name: textOrNull,
	}),
	organizationId: uuidOrNull,
	requestId: textOrNull,
	details: anyObject.allow(null),
});

export const auditRoutes = organizationRoute('GET', '/audit-log', {
	summary: 'List audit records, newest first',
	answer: pageOf(auditAnswer),
	role: 'admin',
	query: pageQuerySchema,
	handler: ({services, organization, query}) => listAudit(services.db, organization.id, query),
});
