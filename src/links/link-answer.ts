import Joi from 'joi';
import {domainSummaryAnswer} from '../domains/domain-answer.ts';
import {
	answerOf,
	anyObject,
	count,
	flag,
	instant,
	instantOrNull,
	type MediaAnswer,
	partOf,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../http/answer.ts';

export const ogAnswer = partOf({title: textOrNull, description: textOrNull, imageUrl: textOrNull});
export const paramsAnswer = Joi.object().pattern(/^/, text);

const placeAnswer = text.optional();
/** Absent where nobody has set them. */
export const platformAnswerFields = {
	destinations: partOf({ios: placeAnswer, ipad: placeAnswer, android: placeAnswer, desktop: placeAnswer}).optional(),
	minimumVersion: partOf({ios: text.optional(), android: count.optional()}).optional(),
};

/** The shared fields of links and templates in answers. */
export const sharedAnswerFields = {
	path: textOrNull,
	params: paramsAnswer.allow(null),
	og: ogAnswer,
	fallbackUrl: textOrNull,
	...platformAnswerFields,
	channel: textOrNull,
	tags: Joi.array().items(text).allow(null),
	utmSource: textOrNull,
	utmMedium: textOrNull,
	utmCampaign: textOrNull,
	utmTerm: textOrNull,
	utmContent: textOrNull,
};

const fields = {
	id: uuid,
	organizationId: uuid,
	domainId: uuid,
	shortCode: text,
	url: text,
	...sharedAnswerFields,
	title: textOrNull,
	expiry: instantOrNull,
	templateId: uuidOrNull,
	externalId: textOrNull,
	isActive: flag,
	deferredDeepLinking: flag,
	matchWindowHours: count,
	createdAt: instant,
	updatedAt: instant,
};

/** The answer of create and update. */
export const linkAnswer = answerOf('Link', fields);
/** The answer of list and get. */
export const linkWithDomainAnswer = answerOf('LinkWithDomain', {...fields, domain: domainSummaryAnswer});
/** The same, with what a list has on request. */
export const listedLinkAnswer = answerOf('ListedLink', {
	...fields,
	domain: domainSummaryAnswer,
	clicks: count.optional(),
});

/** A line of an import's answer (contract/admin 4). */
export const importLineAnswer = answerOf('ImportedLine', {
	line: count,
	status: Joi.valid('created', 'updated', 'skipped', 'failed'),
	id: uuid.optional(),
	url: text.optional(),
	error: anyObject.optional(),
});

/** The header that a create reads. */
export const idempotencyHeader = {
	'Idempotency-Key':
		'Up to 255 characters. The same key and body within 24 hours answer as the first time; another body is 409.',
};

const qrAnswer = (media: string): MediaAnswer => ({media: [media], about: 'QR code of the short URL.'});
export const qrAnswers = {svg: qrAnswer('image/svg+xml'), png: qrAnswer('image/png')};

/** Headers of a streamed NDJSON answer; proxies must not buffer it. */
export const ndjsonHeaders = {
	'Content-Type': 'application/x-ndjson',
	'Cache-Control': 'no-store',
	'X-Accel-Buffering': 'no',
};
