import Joi from 'joi';
import {answerOf, flag} from '../http/answer.ts';
import {organizationAnswer} from '../organizations/organization-answer.ts';

/** How far somebody who signed in has come (contract/portal 3). */
export const onboardingAnswer = answerOf('OnboardingState', {
	organization: organizationAnswer.allow(null),
	planSelected: flag,
	appConfigured: flag,
	hasLinks: flag,
	nextStep: Joi.valid('create-organization', 'select-plan', 'configure-app', 'create-link', 'done'),
});
