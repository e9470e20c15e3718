import Joi from 'joi';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import {booleanQuery, isoDateTime, pageQuery, uuidField} from '../../platform/http/validate.ts';
import {httpUrl} from '../http-url.ts';
import type {LinkInput} from './link.ts';
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
	switch (value.kind) {
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
		: field.kind === 'code' || field.name === 'path'
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

const {path, ...fields} = linkFieldSchemas;

/** The fields of a link's body. */
export const linkFieldNames = Object.keys(linkFieldSchemas);

/** The body of a create. The path is required unless a template may have one, which is checked later. */
export const newLink = Joi.object<LinkInput>({
	path: path.when('templateId', {is: Joi.string().required(), otherwise: Joi.required()}),
	...fields,
});

/** The body of an update: null clears a field, except `path` and `shortCode` (contract/links 11). */
export const linkChanges = Joi.object<LinkInput>({path, ...fields});

export type LinkListQuery = PageQuery & {
	isActive?: boolean;
	q?: string;
	tag?: string;
	channel?: string;
	externalId?: string;
	shortCode?: string;
	domainId?: string;
	/** Whether to count the clicks of each listed link. */
	clicks: boolean;
};

export const linkListQuery = Joi.object<LinkListQuery>({
	...pageQuery,
	isActive: booleanQuery,
	q: Joi.string().max(255).allow(''),
	tag: Joi.string().max(50),
	channel: Joi.string().max(50),
	externalId: Joi.string().max(255),
	shortCode: Joi.string().max(MAX_SHORT_CODE),
	domainId: uuidField,
	clicks: booleanQuery
		.default(false)
		.meta({schema: {description: 'Adds `clicks` to each link: those of people in the last 30 days (UTC).'}}),
});

export type ExportQuery = {appLinks: boolean};
export const exportQuery = Joi.object<ExportQuery>({
	appLinks: booleanQuery.default(true).meta({schema: {description: 'False leaves out the links that apps made.'}}),
});

/** A link by its id, code or URL, without its organization. */
export type LinkName = {id: string} | {shortCode: string} | {url: string};

export const linkNameQuery = Joi.object<PageQuery & LinkName>({
	...pageQuery,
	id: uuidField,
	shortCode: Joi.string().max(MAX_SHORT_CODE),
	url: Joi.string().max(2048),
}).xor('id', 'shortCode', 'url');

export type OnConflict = 'skip' | 'update' | 'fail';
export type ImportQuery = {dryRun: boolean; onConflict: OnConflict};

export const importQuery = Joi.object<ImportQuery>({
	dryRun: booleanQuery.default(false),
	onConflict: Joi.valid('skip', 'update', 'fail').default('skip' satisfies OnConflict),
});
