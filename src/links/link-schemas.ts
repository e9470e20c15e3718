import Joi from 'joi';
import type {PageQuery} from '../db/read-page.ts';
import {booleanQuery} from '../http/route.ts';
import {isoDateTime, pageQuery, uuidField} from '../http/validate.ts';
import type {LinkInput} from './link.ts';
import {sharedFieldSchemas} from './link-fields.ts';

/** A short code: 1 to 64 of `A-Z a-z 0-9 _ -` (contract/hosts 5). */
const shortCode = Joi.string()
	.max(64)
	.pattern(/^[A-Za-z0-9_-]*$/)
	.message('{{#label}} must consist of letters, digits, _ and -');

const {path, ...shared} = sharedFieldSchemas;

const fields = {
	...shared,
	shortCode,
	title: Joi.string().max(255).allow(null),
	domainId: uuidField.allow(null),
	templateId: uuidField.allow(null),
	externalId: Joi.string().max(255).allow(null),
	expiry: isoDateTime().allow(null),
	isActive: Joi.boolean().strict().allow(null),
};

/** The fields of a link's body. */
export const linkFieldNames = ['path', ...Object.keys(fields)];

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
	shortCode: Joi.string().max(64),
	domainId: uuidField,
	clicks: booleanQuery
		.default(false)
		.meta({schema: {description: 'Adds `clicks` to each link: those of people in the last 30 days (UTC).'}}),
});

/** A link as people name it, without its organization. */
export type LinkName = {id: string} | {shortCode: string} | {url: string};

export const linkNameQuery = Joi.object<PageQuery & LinkName>({
	...pageQuery,
	id: uuidField,
	shortCode: Joi.string().max(64),
	url: Joi.string().max(2048),
}).xor('id', 'shortCode', 'url');

export type OnConflict = 'skip' | 'update' | 'fail';
export type ImportQuery = {dryRun: boolean; onConflict: OnConflict};

export const importQuery = Joi.object<ImportQuery>({
	dryRun: booleanQuery.default(false),
	onConflict: Joi.valid('skip', 'update', 'fail').default('skip' satisfies OnConflict),
});
