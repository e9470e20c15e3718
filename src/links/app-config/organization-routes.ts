import Joi from 'joi';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {answerOf, flag, partOf, text, textOrNull} from '../../platform/http/answer.ts';
import {linkFieldAnswers, platformAnswers} from '../links/link-answer.ts';
import {appConfigBody} from './app-config.ts';
import {getAppConfig} from './app-config-store.ts';
import {saveAppConfig} from './save-app-config.ts';

/** An app configuration (contract/portal 5). */
const appConfigAnswer = answerOf('AppConfig', {
	ios: partOf({
		bundleId: textOrNull,
		teamId: textOrNull,
		appStoreId: textOrNull,
		scheme: textOrNull,
		appClipBundleId: text.optional(),
	}).allow(null),
	android: Joi.array().items(
		partOf({
			packageName: text,
			sha256Fingerprints: Joi.array().items(text),
			scheme: textOrNull,
			dynamicAppLinks: Joi.valid(true).optional(),
		}),
	),
	fallbackUrl: textOrNull,
	...platformAnswers,
	browserPaths: Joi.array().items(text).optional(),
	errorPages: Joi.valid(true).optional(),
	clipboardFormat: Joi.valid('token', 'url').optional(),
	logoUrl: text.optional(),
	og: linkFieldAnswers.og,
	probabilisticMatching: flag,
	minimumConfidence: Joi.valid('exact', 'high', 'medium', 'low'),
});

export const appConfigRoutes = [
	organizationRoute('GET', '/app-config', {
		summary: 'Get the app configuration',
		answer: appConfigAnswer,
		role: 'viewer',
		handler: ({services, organization}) => getAppConfig(services.db, organization.id),
	}),

	organizationRoute('PUT', '/app-config', {
		summary: 'Set the app configuration',
		refusals: [409],
		answer: appConfigAnswer,
		role: 'developer',
		body: appConfigBody,
		handler: ({services, organization, by, body}) => saveAppConfig(services, {organization, by, appConfig: body}),
	}),
].flat();
