import Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import type {Caller} from '../audit/audit-log.ts';
import {route} from '../auth/route.ts';
import {organizationJson} from '../organizations/organization-store.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {planField} from '../plans/plan-field.ts';
import {organizationOnPlanAnswer} from './billing-answers.ts';
import type {BillingServices} from './gateway.ts';
import {setOrganizationPlan} from './set-plan.ts';
import {subscriptionJson} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';

const planChange = Joi.object<{plan: string | null}>({plan: planField.allow(null).required()});

type PlanChange = {orgId: string; plan: string | null; by: Caller};

/** The organization on its new plan, with its subscription; null if it never had one. */
const setPlanByOps = async (services: BillingServices, {orgId, plan, by}: PlanChange) => {
	const named = await requireOrganization(services, orgId);
	const organization = await setOrganizationPlan(services, {organization: named, by, plan});
	const subscription = await createSubscriptionStore(services.db).findOf(organization.id);
	return {
		...organizationJson(organization),
		subscription: subscription === null ? null : subscriptionJson(subscription),
	};
};

export const opsBillingRoutes = [
	route({
		method: 'POST',
		path: '/portal/admin/billing/organizations/:orgId/plan',
		summary: 'Set the plan of an organization',
		refusals: [409],
		answer: organizationOnPlanAnswer,
		credential: 'ops',
		limit: limits.portal,
		params: orgParams,
		body: planChange,
		handler: ({services, by, params: {orgId}, body: {plan}}) => setPlanByOps(services, {orgId, plan, by}),
	}),
];
