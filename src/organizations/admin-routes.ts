import Joi from 'joi';
import {auditAnswer} from '../audit/audit-answer.ts';
import {listAudit} from '../audit/audit-log.ts';
import {setOrganizationPlan} from '../billing/set-plan.ts';
import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuery, pageQuerySchema} from '../http/validate.ts';
import {planField} from '../plans/plan-field.ts';
import {organizationAnswer} from './organization-answer.ts';
import {contactEmail, organizationChanges, organizationName} from './organization-fields.ts';
import {
	createOrganization,
	deleteOrganization,
	setOrganizationStatus,
	updateOrganization,
} from './organization-operations.ts';
import {createOrganizationStore, organizationJson} from './organization-store.ts';
import {orgParams, requireOrganization} from './require-organization.ts';

const plan = planField.allow(null);

const newOrganization = Joi.object<{name: string; contactEmail?: string | null; plan?: string | null}>({
	name: organizationName.required(),
	contactEmail,
	plan,
});
const planChange = Joi.object<{plan: string | null}>({plan: plan.required()});
const listQuery = Joi.object<{page: number; limit: number; q?: string}>({...pageQuery, q: Joi.string().max(255)});

export const organizationRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations',
		summary: 'List organizations, newest first',
		answer: pageOf(organizationAnswer),
		credential: 'admin',
		query: listQuery,
		handler: async ({services, query}) => {
			const found = await createOrganizationStore(services.db).list(query);
			return {...found, data: found.data.map(organizationJson)};
		},
	}),

	route({
		method: 'POST',
		path: '/admin/organizations',
		summary: 'Create an organization',
		refusals: [409],
		answer: organizationAnswer,
		credential: 'admin',
		body: newOrganization,
		status: 201,
		handler: async ({services, by, body}) => organizationJson(await createOrganization(services, {fields: body, by})),
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId',
		summary: 'Get an organization',
		answer: organizationAnswer,
		credential: 'admin',
		params: orgParams,
		handler: async ({services, params}) => organizationJson(await requireOrganization(services, params.orgId)),
	}),

	route({
		method: 'PATCH',
		path: '/admin/organizations/:orgId',
		summary: 'Change an organization',
		refusals: [409],
		answer: organizationAnswer,
		credential: 'admin',
		params: orgParams,
		body: organizationChanges,
		handler: async ({services, by, params, body}) => {
			const organization = await requireOrganization(services, params.orgId);
			return organizationJson(await updateOrganization(services, {organization, by, changes: body}));
		},
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId',
		summary: 'Delete an organization and all its data',
		refusals: [409, 502],
		answer: deletedAnswer,
		credential: 'admin',
		params: orgParams,
		handler: async ({services, by, params}) =>
			deleteOrganization(services, {organization: await requireOrganization(services, params.orgId), by}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/suspend',
		summary: 'Suspend an organization',
		answer: organizationAnswer,
		credential: 'admin',
		params: orgParams,
		handler: async ({services, by, params}) => {
			const organization = await requireOrganization(services, params.orgId);
			return organizationJson(await setOrganizationStatus(services, {organization, by}, 'SUSPENDED'));
		},
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/activate',
		summary: 'Activate an organization',
		answer: organizationAnswer,
		credential: 'admin',
		params: orgParams,
		handler: async ({services, by, params}) => {
			const organization = await requireOrganization(services, params.orgId);
			return organizationJson(await setOrganizationStatus(services, {organization, by}, 'ACTIVE'));
		},
	}),

	route({
		method: 'PUT',
		path: '/admin/organizations/:orgId/plan',
		summary: 'Set the plan of an organization',
		refusals: [409, 502],
		answer: organizationAnswer,
		credential: 'admin',
		params: orgParams,
		body: planChange,
		handler: async ({services, by, params, body}) => {
			const organization = await requireOrganization(services, params.orgId);
			return organizationJson(await setOrganizationPlan(services, {organization, by, plan: body.plan}));
		},
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/audit-log',
		summary: 'List audit records, newest first',
		answer: pageOf(auditAnswer),
		credential: 'admin',
		params: orgParams,
		query: pageQuerySchema,
		handler: async ({services, params, query}) =>
			listAudit(services.db, (await requireOrganization(services, params.orgId)).id, query),
	}),
];
