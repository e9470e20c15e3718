import Joi from 'joi';
import {type FieldFault, validationFailed} from '../../platform/errors.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import {type BodyContext, isoDateTime, uuidField} from '../../platform/http/validate.ts';
import {safeHttpUrl} from '../../platform/safe-http-url.ts';
import {allLinkFields, isShared, type LinkFieldName, type LinkValue, platformFields} from './link-fields.ts';
import {destinationListed} from './link-safety.ts';
import {MAX_SHORT_CODE, SHORT_CODE_CHARACTERS} from './short-code.ts';

const MAX_URL = 2048;
const NO_LOOP = 'must not be on the link domain';

/**
 * An http or https URL of at most 2048 characters in normal form (contract/links 10: never the raw input), and not on
 * the link domain, which would be a loop.
 */
export const httpUrl = () =>
	sizeFirst
		.string()
		.max(MAX_URL)
		.meta({
			schema: {
				format: 'uri',
				pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\\\]+(?:[/?#].*)?$',
				description: 'An http or https URL of a public host, without a user, and not on the link domain.',
			},
		})
		.custom((value: string, helpers) => {
			const url = safeHttpUrl(value, {linkHosts: []});
			if (url === null) {
				return helpers.message({custom: '{{#label}} must be an http or https URL of a public host'});
			}

			// Percent-encoded, which is how it is stored, exported and checked when shown.
			if (url.length > MAX_URL) {
				return helpers.message({
					custom: `{{#label}} must be shorter than or equal to ${MAX_URL} characters, percent-encoded`,
				});
			}

			const {linkHosts, linkPolicy} = helpers.prefs.context as BodyContext;
			if (safeHttpUrl(value, {linkHosts}) === null) {
				return helpers.message({custom: `{{#label}} ${NO_LOOP}`});
			}

			return refusedByPolicy(linkPolicy, url, helpers) ?? url;
		});

/** The refusal of an address that a list blocks; null for any other. */
export const refusedByPolicy = (
	linkPolicy: BodyContext['linkPolicy'],
	url: string,
	helpers: Joi.CustomHelpers,
): ReturnType<Joi.CustomHelpers['message']> | null => {
	const verdict = linkPolicy?.of(url) ?? null;
	// The sentence is a value, because joi reads braces in a message.
	return verdict?.state === 'block'
		? helpers.message({custom: '{{#refusal}}'}, {refusal: destinationListed(verdict.list)})
		: null;
};

/** The URLs on the link's custom domain, which only the database knows. */
export const loopFaults = (hostname: string, urls: Readonly<Record<string, string | null>>): FieldFault[] =>
	Object.entries(urls)
		.filter(([, url]) => url !== null && safeHttpUrl(url, {linkHosts: [hostname]}) === null)
		.map(([field]) => ({field, message: `${field} ${NO_LOOP}`}));

/** Refuses the same. @throws 400. */
export const requireNoLoop = (...named: Parameters<typeof loopFaults>): void => {
	const faults = loopFaults(...named);
	if (faults.length > 0) {
		throw validationFailed(faults);
	}
};

const paramsSchema = ({max, maxBytes}: {max: number; maxBytes: number}) =>
	Joi.object<Record<string, string>>()
		.pattern(/^/, Joi.string().allow(''))
		.max(max)
		.message('{{#label}} must contain at most {{#limit}} values')
		.meta({schema: {description: `At most ${maxBytes} bytes serialized.`}})
		.custom((value: Record<string, string>, helpers) =>
			Object.keys(value).length <= max && Buffer.byteLength(JSON.stringify(value)) <= maxBytes
				? value
				: helpers.message({custom: `{{#label}} must be shorter than or equal to ${maxBytes} bytes serialized`}),
		);

const valueSchema = (value: LinkValue): Joi.AnySchema => {
	switch (value.is) {
		case 'text':
			return Joi.string().max(value.max);
		case 'texts':
			return sizeFirst.array().items(Joi.string().max(value.each)).max(value.max);
		case 'params':
			return paramsSchema(value);
		case 'count':
			return Joi.number().integer().min(value.min).max(value.max);
		case 'code':
			return Joi.string()
				.max(MAX_SHORT_CODE)
				.pattern(SHORT_CODE_CHARACTERS)
				.message('{{#label}} must consist of letters, digits, _ and -');
		case 'flag':
			return Joi.boolean().strict();
		case 'id':
			return uuidField;
		case 'instant':
			return isoDateTime();
		case 'url':
			return httpUrl();
		case 'version':
			return Joi.string()
				.pattern(/^\d{1,9}(?:\.\d{1,9}){0,5}$/)
				.message('{{#label}} must be dotted numbers, such as 2.10.0');
	}
};

const schemaOf = (field: (typeof allLinkFields)[number]): Joi.AnySchema =>
	'parts' in field
		? Joi.object(
				Object.fromEntries(Object.entries(field.parts).map(([part, value]) => [part, valueSchema(value).allow(null)])),
			).allow(null)
		: field.is === 'code' || field.name === 'path'
			? valueSchema(field)
			: valueSchema(field).allow(null);

/** The joi schemas of a link's fields. `path` refuses null unless a schema adds `.allow(null)`. */
export const linkFieldSchemas = Object.fromEntries(
	allLinkFields.map((field) => [field.name, schemaOf(field)]),
) as Record<LinkFieldName, Joi.AnySchema>;

const schemasOf = (fields: ReadonlyArray<{name: LinkFieldName}>): Record<string, Joi.AnySchema> =>
	Object.fromEntries(fields.map(({name}) => [name, linkFieldSchemas[name]]));

/** Those that templates have, too. */
export const sharedFieldSchemas = schemasOf(allLinkFields.filter(isShared));

export const platformFieldSchemas = schemasOf(platformFields);
