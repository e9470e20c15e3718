import Joi from 'joi';
import type {Confidence} from '../../links/app-config/app-config.ts';
import {paramsAnswer} from '../../links/links/link-answer.ts';
import {
	answerOf,
	count,
	flag,
	instant,
	instantText,
	listOf,
	oneOf,
	optional,
	orNull,
	partOf,
	textOrNull,
	uuid,
	uuidOrNull,
	type ValueOf,
} from '../../platform/http/answer.ts';
import {appDataAnswers} from '../visit/visit-answers.ts';
import type {MatchMethod} from './match-policy.ts';

const methods: MatchMethod[] = ['CLIPBOARD', 'INSTALL_REFERRER', 'FINGERPRINT_EXACT', 'FINGERPRINT_SCORED', 'IP_FUZZY'];
const confidence = oneOf<Confidence>('exact', 'high', 'medium', 'low');

export const missFields = {matched: oneOf(false), matchMethod: oneOf('NONE')};
export const matchFields = {
	matched: oneOf(true),
	matchMethod: oneOf(...methods),
	matchConfidence: confidence,
	matchScore: optional(Joi.number().integer().min(0).max(100)),
	...appDataAnswers,
};

const match = answerOf('Match', matchFields);
const miss = answerOf('NoMatch', missFields);

/**
 * The answer to a request for a match (contract/match 1). `matchScore` is the probability in percent, for
 * FINGERPRINT_SCORED only; `path` and `params` are the link's, with the template's and the click's query merged in.
 */
export const matchAnswer: Joi.AnySchema<ValueOf<typeof match> | ValueOf<typeof miss>> = Joi.alternatives(match, miss);
export type MatchAnswer = ValueOf<typeof matchAnswer>;

/** Whether a request carried a token, and whether a click has it. */
const sighting = oneOf('absent', 'unknown', 'known');

/** The signals of a request, as it sent them, without its tokens; of the address only its family. */
export const signalsAnswer = partOf({
	platform: textOrNull,
	osVersion: textOrNull,
	deviceModel: textOrNull,
	language: textOrNull,
	timezone: textOrNull,
	network: oneOf('IPv4', 'IPv6'),
	clipboardToken: sighting,
	installReferrer: sighting,
	apiKey: flag,
});

const points: Joi.AnySchema<number> = Joi.number();
const probability: Joi.AnySchema<number> = Joi.number().min(0).max(1);

export const candidateAnswer = partOf({
	linkId: uuid,
	clickedAt: instantText,
	/** The probability in percent. */
	score: count,
	/** The probability that the open came from this click; 0 if it is ruled out. */
	probability,
	/** The number of compared phones that resemble the click as much as the app's. */
	alike: count,
	compared: count,
	points: partOf({
		...{ip: points, network: points},
		...{platform: points, deviceModel: points, osVersion: points, timezone: points, language: points},
	}),
	ruledOut: orNull(
		oneOf(
			'platform',
			'device_model',
			'os_version',
			'consumed',
			'blocked',
			'link_not_live',
			'outside_window',
			'relay',
			'guesses_off',
		),
	),
	/** The click came through iCloud Private Relay. */
	relay: optional(oneOf(true)),
});

/** Why nothing matched (contract/match 11). */
export const missReason = oneOf(
	'no_click',
	'outside_window',
	'consumed',
	'ambiguous',
	'below_threshold',
	'blocked',
	'ruled_out',
	'guesses_off',
	'below_minimum',
);

/** A request for a match, its outcome and the reason (contract/match 11); without its id if it is not kept. */
export const attemptFields = {
	at: instant,
	organizationId: uuidOrNull,
	deviceId: textOrNull,
	matched: flag,
	method: oneOf(...methods, 'NONE'),
	confidence: orNull(confidence),
	score: orNull<number>(Joi.number().integer()),
	linkId: uuidOrNull,
	reason: orNull(missReason),
	signals: signalsAnswer,
	/** Best first. */
	candidates: listOf(candidateAnswer),
	/**
	 * The probability that no click led to the open; `tokenless`: the factor of every click because the open had no
	 * token; `made`: clicks of the address in 24 h, if known.
	 */
	nobody: orNull(partOf({probability, tokenless: probability, made: orNull(count)})),
	/** The query of the matched click; omitted if it had none, or if it was cleared with the click's signals. */
	query: optional(paramsAnswer),
};

export const matchAttemptAnswer = answerOf('MatchAttempt', {id: uuid, ...attemptFields});
export const unkeptAttemptAnswer = answerOf('DryRunAttempt', attemptFields);
