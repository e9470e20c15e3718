import Joi from 'joi';
import {
	answerOf,
	anyObject,
	count,
	flag,
	instant,
	type MediaAnswer,
	oneOf,
	optional,
	partOf,
	text,
	textOrNull,
	uuid,
} from '../../platform/http/answer.ts';
import {domainSummaryAnswer} from '../domains/domain.ts';
import {allLinkFields, isShared, type LinkFieldName, type LinkValue, platformFields} from './link-fields.ts';

export const paramsAnswer: Joi.AnySchema<Record<string, string>> = Joi.object().pattern(/^/, text);

const valueAnswers: Record<LinkValue['kind'], Joi.Schema> = {
	code: text,
	count,
	flag,
	id: uuid,
	instant,
	params: paramsAnswer,
	text,
	texts: Joi.array().items(text),
	url: text,
	version: text,
};

const answerOfField = (field: (typeof allLinkFields)[number]): Joi.Schema => {
	if (!('parts' in field)) {
		return field.required ? valueAnswers[field.kind] : valueAnswers[field.kind].allow(null);
	}

	const parts = Object.entries(field.parts).map(([part, {kind}]): [string, Joi.Schema] => [
		part,
		field.kind === 'group' ? valueAnswers[kind].allow(null) : valueAnswers[kind].optional(),
	]);
	// Absent if unset.
	return field.kind === 'group' ? partOf(Object.fromEntries(parts)) : partOf(Object.fromEntries(parts)).optional();
};

/** The fields of a link in answers. */
export const linkFieldAnswers = Object.fromEntries(
	allLinkFields.map((field) => [field.name, answerOfField(field)]),
) as Record<LinkFieldName, Joi.Schema>;

const answersOf = (fields: ReadonlyArray<{name: LinkFieldName}>): Record<string, Joi.Schema> =>
	Object.fromEntries(fields.map(({name}) => [name, linkFieldAnswers[name]]));

export const platformAnswers = answersOf(platformFields);

/** Those that templates have, too. */
export const sharedFieldAnswers = answersOf(allLinkFields.filter(isShared));

const hasDefault = (field: (typeof allLinkFields)[number]): boolean => field.default !== undefined;
const {domainId, shortCode, title, expiry} = linkFieldAnswers;

const fields = {
	id: uuid,
	organizationId: uuid,
	domainId,
	shortCode,
	url: text,
	...answersOf(allLinkFields.filter((field) => isShared(field) && !hasDefault(field))),
	title,
	expiry,
	...answersOf(allLinkFields.filter((field) => !isShared(field))),
	// As they take effect, so never null.
	...Object.fromEntries(
		allLinkFields.filter(hasDefault).map((field) => [field.name, valueAnswers[(field as LinkValue).kind]]),
	),
	safety: partOf({
		state: Joi.valid('block', 'warn'),
		by: Joi.valid('list', 'operator'),
		reason: textOrNull,
		since: instant,
	}).optional(),
	createdAt: instant,
	updatedAt: instant,
};

/** The answer of create and update. */
export const linkAnswer = answerOf('Link', fields);
/** The answer of list and get. */
export const linkWithDomainAnswer = answerOf('LinkWithDomain', {...fields, domain: domainSummaryAnswer});
/** The answer of a list, with the optional clicks. */
export const listedLinkAnswer = answerOf('ListedLink', {
	...fields,
	domain: domainSummaryAnswer,
	clicks: count.optional(),
});

/** A line of an import's answer (contract/admin 4). */
export const importLineAnswer = answerOf('ImportedLine', {
	line: count,
	status: oneOf('created', 'updated', 'skipped', 'failed'),
	id: optional(uuid),
	url: optional(text),
	error: optional(anyObject),
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
