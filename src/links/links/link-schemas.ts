import Joi from 'joi';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {booleanQuery} from '../../platform/http/route.ts';
import {pageQuery, uuidField} from '../../platform/http/validate.ts';
import type {LinkInput} from './link.ts';
import {linkFieldSchemas} from './link-field-schemas.ts';
import {MAX_SHORT_CODE} from './short-code.ts';

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
