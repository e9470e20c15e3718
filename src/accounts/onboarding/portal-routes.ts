import Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import {FREE_PLAN} from '../../platform/config/plans.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {billingFlowRequired, organizationNotFound, planAlreadySelected, required} from '../../platform/errors.ts';
import {answerOf, flag} from '../../platform/http/answer.ts';
import type {Services} from '../../services.ts';
import {type Caller, organizationEntry, recordAudit} from '../audit/audit-log.ts';
import {portalRoute, route} from '../auth/route.ts';
import {requirePlanName} from '../billing/set-plan.ts';
import {organizationAnswer, organizationName, planField} from '../organizations/organization-schemas.ts';
import {createOrganizationStore, type Organization, organizationJson} from '../organizations/organization-store.ts';
import {type PlanDeps, planOf} from '../plans/entitlements.ts';
import {createOwnOrganization} from './create-own-organization.ts';
import {readOnboardingState} from './onboarding-state.ts';

/**
 * Selects the free plan for an organization without a plan.
 * @throws 400 for an unknown plan, 409 if a plan is selected, 422 USE_BILLING_FLOW for a paid plan.
 */
const selectPlan = (
	services: PlanDeps & Pick<Services, 'db'>,
	{organization: {id}, by, plan: name}: {organization: {id: string}; by: Caller; plan: string},
): Promise<Organization> => {
	const plan = requirePlanName(services.config.plans, name);
	return inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		const store = createOrganizationStore(trx);
		const organization = required(await store.lock(id), organizationNotFound);
		if (planOf(services, organization) !== null) {
			throw planAlreadySelected();
		}

		if (plan !== FREE_PLAN) {
			throw billingFlowRequired(plan ?? name);
		}

		await recordAudit(trx, now, by, organizationEntry('SELECT_PLAN', id, {plan}));
		return (await store.update(id, {plan}, now)) ?? organization;
	});
};

/** The onboarding progress of a signed-in person (contract/portal 3). */
const onboardingAnswer = answerOf('OnboardingState', {
	organization: organizationAnswer.allow(null),
	planSelected: flag,
	appConfigured: flag,
	hasLinks: flag,
	nextStep: Joi.valid('create-organization', 'select-plan', 'configure-app', 'create-link', 'done'),
});

const newOrganization = Joi.object<{name: string}>({name: organizationName.required()});
const planChoice = Joi.object<{plan: string}>({plan: planField.required()});

export const portalOnboardingRoutes = [
	route('GET', '/portal/onboarding/state', {
		summary: 'Get the onboarding progress of the caller',
		refusals: [403],
		answer: onboardingAnswer,
		credential: 'user',
		limit: limits.portal,
		handler: ({services, session, by}) => readOnboardingState(services, {session, by}),
	}),

	route('POST', '/portal/onboarding/create-organization', {
		summary: 'Create the caller’s organization',
		refusals: [403, 409],
		answer: organizationAnswer,
		credential: 'user',
		limit: limits.portal,
		body: newOrganization,
		status: 201,
		handler: async ({services, session, by, body: {name}}) =>
			organizationJson(await createOwnOrganization(services, {session, by, name})),
	}),

	portalRoute('POST', '/onboarding/select-plan', {
		summary: 'Select the free plan',
		refusals: [409, 422],
		answer: organizationAnswer,
		role: 'owner',
		onboarding: true,
		body: planChoice,
		handler: async ({services, organization, by, body: {plan}}) =>
			organizationJson(await selectPlan(services, {organization, by, plan})),
	}),
];
