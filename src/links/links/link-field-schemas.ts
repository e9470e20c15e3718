import Joi from 'joi';
import {sizeFirst} from '../../platform/http/size-first.ts';
import {isoDateTime, uuidField} from '../../platform/http/validate.ts';
import {httpUrl} from '../http-url.ts';
import {allLinkFields, isShared, type LinkFieldName, type LinkValue, platformFields} from './link-fields.ts';
import {MAX_SHORT_CODE, SHORT_CODE_CHARACTERS} from './short-code.ts';

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
