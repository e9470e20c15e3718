import Joi from 'joi';
import {paramsAnswer} from '../../links/links/link-answer.ts';
import {answerOf, count, flag, instant, partOf, textOrNull, uuid, uuidOrNull} from '../../platform/http/answer.ts';
import {appDataAnswers} from '../visit/visit-answers.ts';

const methods = ['CLIPBOARD', 'INSTALL_REFERRER', 'FINGERPRINT_EXACT', 'FINGERPRINT_SCORED', 'IP_FUZZY'];
const confidence = Joi.valid('exact', 'high', 'medium', 'low');

export const missFields = {matched: Joi.valid(false), matchMethod: Joi.valid('NONE')};
export const matchFields = {
	matched: Joi.valid(true),
	matchMethod: Joi.valid(...methods),
	matchConfidence: confidence,
	matchScore: Joi.number().integer().min(0).max(100).optional(),
	...appDataAnswers,
};

/** The answer to a request for a match (contract/match 1). */
export const matchAnswer = Joi.alternatives(answerOf('Match', matchFields), answerOf('NoMatch', missFields));

const sighting = Joi.valid('absent', 'unknown', 'known');
const points = partOf(
	Object.fromEntries(
		['ip', 'network', 'platform', 'deviceModel', 'osVersion', 'timezone', 'language'].map((name) => [
			name,
			Joi.number(),
		]),
	),
);

const probability = Joi.number().min(0).max(1);

/** A request for a match, its outcome and the reason (contract/match 11); without its id if it is not kept. */
export const attemptFields = {
	at: instant,
	organizationId: uuidOrNull,
	deviceId: textOrNull,
	matched: flag,
	method: Joi.valid(...methods, 'NONE'),
	confidence: confidence.allow(null),
	score: Joi.number().integer().allow(null),
	linkId: uuidOrNull,
	reason: Joi.valid(
		'no_click',
		'outside_window',
		'consumed',
		'ambiguous',
		'below_threshold',
		'blocked',
		'ruled_out',
		'guesses_off',
		'below_minimum',
	).allow(null),
	signals: partOf({
		platform: textOrNull,
		osVersion: textOrNull,
		deviceModel: textOrNull,
		language: textOrNull,
		timezone: textOrNull,
		network: Joi.valid('IPv4', 'IPv6'),
		clipboardToken: sighting,
		installReferrer: sighting,
		apiKey: flag,
	}),
	candidates: Joi.array().items(
		partOf({
			linkId: uuid,
			clickedAt: instant,
			score: count,
			probability,
			alike: count,
			compared: count,
			points,
			ruledOut: Joi.valid(
				'platform',
				'device_model',
				'os_version',
				'consumed',
				'blocked',
				'link_not_live',
				'outside_window',
				'relay',
				'guesses_off',
			).allow(null),
			relay: Joi.valid(true).optional(),
		}),
	),
	nobody: partOf({probability, tokenless: probability, made: count.allow(null)}).allow(null),
	query: paramsAnswer.optional(),
};

export const matchAttemptAnswer = answerOf('MatchAttempt', {id: uuid, ...attemptFields});
export const unkeptAttemptAnswer = answerOf('DryRunAttempt', attemptFields);
