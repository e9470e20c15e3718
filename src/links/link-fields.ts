import Joi from 'joi';
import {type RowOf, toColumns} from '../db/columns.ts';
import {validationFailed} from '../errors.ts';
import {sized} from '../http/sized.ts';
import type {BodyContext} from '../http/validate.ts';
import {safeHttpUrl} from '../safe-http-url.ts';
import {
	type PlatformColumns,
	type PlatformFields,
	type PlatformInput,
	platformColumns,
	platformFieldsOf,
} from './platform-fields.ts';

export type Og = {title: string | null; description: string | null; imageUrl: string | null};

/** The fields of links and templates (contract/links 1); null: unset, so the next in the chain decides. */
export type SharedFields = PlatformFields & {
	path: string | null;
	params: Record<string, string> | null;
	og: Og;
	fallbackUrl: string | null;
	channel: string | null;
	tags: string[] | null;
	utmSource: string | null;
	utmMedium: string | null;
	utmCampaign: string | null;
	utmTerm: string | null;
	utmContent: string | null;
	deferredDeepLinking: boolean | null;
	matchWindowHours: number | null;
};

/** The same in a body: absent fields stay unchanged, also within an object; null clears, `og: null` all of it. */
export type SharedFieldsInput = Partial<Omit<SharedFields, 'og' | keyof PlatformFields>> &
	PlatformInput & {og?: Partial<Og> | null};

const MAX_PARAMS_BYTES = 8192;

const MAX_URL = 2048;
const NO_LOOP = 'must not be on the link domain';

/**
 * An http or https URL of at most 2048 characters in normal form (contract/links 10: never the raw input), and not on
 * the link domain, which would be a loop.
 */
export const httpUrl = () =>
	sized
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

			const {linkDomain} = helpers.prefs.context as BodyContext;
			return safeHttpUrl(value, {linkHosts: [linkDomain]}) ?? helpers.message({custom: `{{#label}} ${NO_LOOP}`});
		});

/** Refuses URLs on the link's custom domain, which only the database knows. @throws 400. */
export const requireNoLoop = (hostname: string, urls: Readonly<Record<string, string | null>>): void => {
	const faults = Object.entries(urls)
		.filter(([, url]) => url !== null && safeHttpUrl(url, {linkHosts: [hostname]}) === null)
		.map(([field]) => ({field, message: `${field} ${NO_LOOP}`}));
	if (faults.length > 0) {
		throw validationFailed(faults);
	}
};

export const ogSchema = Joi.object<Partial<Og>>({
	title: Joi.string().max(255).allow(null),
	description: Joi.string().max(1024).allow(null),
	imageUrl: httpUrl().allow(null),
}).allow(null);

const MAX_PARAMS = 50;

/**
 * Whether params are within their limits, also after resolution adds those of a query (contract/links 1,
 * contract/resolution 2).
 */
const paramsFit = (params: Record<string, string>): boolean =>
	Object.keys(params).length <= MAX_PARAMS && Buffer.byteLength(JSON.stringify(params)) <= MAX_PARAMS_BYTES;

const paramsSchema = Joi.object<Record<string, string>>()
	.pattern(/^/, Joi.string().allow(''))
	.max(MAX_PARAMS)
	.message('{{#label}} must contain at most {{#limit}} values')
	.meta({schema: {description: `At most ${MAX_PARAMS_BYTES} bytes serialized.`}})
	.custom((value: Record<string, string>, helpers) =>
		paramsFit(value)
			? value
			: helpers.message({custom: `{{#label}} must be shorter than or equal to ${MAX_PARAMS_BYTES} bytes serialized`}),
	);

const url = httpUrl().allow(null);

/** The fields that differ by platform (contract/links 12, 13). */
export const platformFieldSchemas = {
	destinations: Joi.object({ios: url, ipad: url, android: url, desktop: url}).allow(null),
	minimumVersion: Joi.object({
		ios: Joi.string()
			.pattern(/^\d{1,9}(?:\.\d{1,9}){0,5}$/)
			.message('{{#label}} must be dotted numbers, such as 2.10.0')
			.allow(null),
		android: Joi.number().integer().min(1).max(2_147_483_647).allow(null),
	}).allow(null),
};

const utm = Joi.string().max(255).allow(null);

/** The joi schemas of the shared fields. `path` refuses null unless a schema adds `.allow(null)`. */
export const sharedFieldSchemas = {
	path: Joi.string().max(2048),
	params: paramsSchema.allow(null),
	og: ogSchema,
	fallbackUrl: url,
	...platformFieldSchemas,
	channel: Joi.string().max(50).allow(null),
	tags: sized.array().items(Joi.string().max(50)).max(20).allow(null),
	utmSource: utm,
	utmMedium: utm,
	utmCampaign: utm,
	utmTerm: utm,
	utmContent: utm,
	deferredDeepLinking: Joi.boolean().strict().allow(null),
	matchWindowHours: Joi.number().integer().min(1).max(720).allow(null),
};

/** The columns of the shared fields, by the same names in `links` and `templates`. */
export type SharedFieldsRow = PlatformColumns &
	RowOf<
		Omit<SharedFields, 'og' | keyof PlatformFields> & {
			ogTitle: string | null;
			ogDescription: string | null;
			ogImageUrl: string | null;
		}
	>;

const noOg = {title: null, description: null, imageUrl: null};

/** The columns that the fields of a link or a template set in an insert or, of the row `before`, in an update. */
export const inputColumns = <T extends SharedFieldsInput>(
	{og, destinations, minimumVersion, ...fields}: T,
	before: PlatformColumns | null,
): Record<string, unknown> => {
	const {title: ogTitle, description: ogDescription, imageUrl: ogImageUrl} = og === null ? noOg : (og ?? {});
	return {
		...toColumns({...fields, ogTitle, ogDescription, ogImageUrl}),
		...platformColumns({destinations, minimumVersion}, before),
	};
};

/** The shared fields of a row, in the order in which the API shows them. */
export const sharedFieldsOf = (row: SharedFieldsRow): SharedFields => ({
	path: row.path,
	params: row.params,
	og: {title: row.og_title, description: row.og_description, imageUrl: row.og_image_url},
	fallbackUrl: row.fallback_url,
	...platformFieldsOf(row),
	channel: row.channel,
	tags: row.tags,
	utmSource: row.utm_source,
	utmMedium: row.utm_medium,
	utmCampaign: row.utm_campaign,
	utmTerm: row.utm_term,
	utmContent: row.utm_content,
	deferredDeepLinking: row.deferred_deep_linking,
	matchWindowHours: row.match_window_hours,
});
