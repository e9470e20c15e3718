import Joi from 'joi';
import {answerOf, flag, partOf, text, textOrNull} from '../http/answer.ts';
import {ogAnswer} from '../links/link-answer.ts';

/** An app configuration (contract/portal 5). */
export const appConfigAnswer = answerOf('AppConfig', {
	ios: partOf({bundleId: textOrNull, teamId: textOrNull, appStoreId: textOrNull, scheme: textOrNull}).allow(null),
	android: Joi.array().items(
		partOf({packageName: text, sha256Fingerprints: Joi.array().items(text), scheme: textOrNull}),
	),
	fallbackUrl: textOrNull,
	og: ogAnswer,
	probabilisticMatching: flag,
	minimumConfidence: Joi.valid('exact', 'high', 'medium', 'low'),
});
