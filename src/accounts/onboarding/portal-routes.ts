import Joi from 'joi';
import {answerOf, flag} from '../../platform/http/answer.ts';
import {limits} from '../../platform/limits/limits.ts';
import {portalRoute, route} from '../auth/route.ts';
import {organizationAnswer, organizationName} from '../organizations/organization-schemas.ts';
import {organizationJson} from '../organizations/organization-store.ts';
import {planField} from '../plans/plan-field.ts';
import {createOwnOrganization} from './create-own-organization.ts';
import {readOnboardingState} from './onboarding-state.ts';
import {selectPlan} from './select-plan.ts';

/** How far somebody who signed in has come (contract/portal 3). */
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
	route({
		method: 'GET',
		path: '/portal/onboarding/state',
		summary: 'Get the onboarding progress of the caller',
		refusals: [403],
		answer: onboardingAnswer,
		credential: 'user',
		limit: limits.portal,
		handler: ({services, session, by}) => readOnboardingState(services, {session, by}),
	}),

	route({
		method: 'POST',
		path: '/portal/onboarding/create-organization',
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

	portalRoute({
		method: 'POST',
		path: '/onboarding/select-plan',
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
