import Joi from 'joi';
import {answerOf, flag, partOf, text, textOrNull} from '../http/answer.ts';
import {ogAnswer, platformAnswerFields} from '../links/link-answer.ts';

/** An app configuration (contract/portal 5). */
export const appConfigAnswer = answerOf('AppConfig', {
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
	...platformAnswerFields,
	browserPaths: Joi.array().items(text).optional(),
	errorPages: Joi.valid(true).optional(),
	clipboardFormat: Joi.valid('token', 'url').optional(),
	logoUrl: text.optional(),
	og: ogAnswer,
	probabilisticMatching: flag,
	minimumConfidence: Joi.valid('exact', 'high', 'medium', 'low'),
});
