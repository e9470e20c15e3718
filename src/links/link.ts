import {isDeepStrictEqual} from 'node:util';
import type {Addresses} from '../config/config.ts';
import {type Domain, domainSummary} from '../domains/domain.ts';
import type {Entitled} from '../plans/entitlements.ts';
import {inputColumns, type SharedFieldsInput, type SharedFieldsRow, sharedFieldsOf} from './link-fields.ts';
import {shortUrl} from './short-url.ts';

/** A row of `links`. A null column is a field that the link leaves to its template. */
export type LinkRow = SharedFieldsRow & {
	id: string;
	organization_id: string;
	domain_id: string;
	template_id: string | null;
	short_code: string;
	external_id: string | null;
	title: string | null;
	expiry: Date | null;
	is_active: boolean;
	created_at: Date;
	updated_at: Date;
};

/** The fields of a body: an absent one stays as it is, null clears. */
export type LinkInput = SharedFieldsInput & {
	domainId?: string | null;
	templateId?: string | null;
	shortCode?: string;
	externalId?: string | null;
	title?: string | null;
	expiry?: Date | null;
	isActive?: boolean | null;
};

/** The part of a template that a link's JSON needs. */
export type LinkTemplate = {
	id: string;
	path: string | null;
	deferredDeepLinking: boolean | null;
	matchWindowHours: number | null;
};

/**
 * A link with the other rows that its JSON needs. `hostname` is its URL's: null for the shared domain, also where its
 * own is not served.
 */
export type LinkView = {link: LinkRow; domain: Domain; hostname: string | null; template: LinkTemplate | null};

/** The organization as links see it. */
export type LinkOwner = Entitled & {id: string; orgKey: string; defaultDomainId: string | null};

/** The two fields that a response shows as they take effect: own, else the template's, else the default. */
export const effectiveMatching = (link: LinkRow, template: LinkTemplate | null) => ({
	deferredDeepLinking: link.deferred_deep_linking ?? template?.deferredDeepLinking ?? true,
	matchWindowHours: link.match_window_hours ?? template?.matchWindowHours ?? 168,
});

/** A link as create and update answer it, without a domain object (contract/links 2). */
export const linkJson = (
	addresses: Addresses,
	{orgKey}: Pick<LinkOwner, 'orgKey'>,
	{link, hostname, template}: Omit<LinkView, 'domain'>,
) => ({
	id: link.id,
	organizationId: link.organization_id,
	domainId: link.domain_id,
	shortCode: link.short_code,
	url: shortUrl(addresses, {hostname, orgKey, shortCode: link.short_code}),
	...sharedFieldsOf(link),
	title: link.title,
	expiry: link.expiry,
	templateId: link.template_id,
	externalId: link.external_id,
	isActive: link.is_active,
	...effectiveMatching(link, template),
	createdAt: link.created_at,
	updatedAt: link.updated_at,
});
export type LinkJson = ReturnType<typeof linkJson>;

/** A link as list, get and export answer it. */
export const linkJsonWithDomain = (addresses: Addresses, owner: LinkOwner, view: LinkView) => ({
	...linkJson(addresses, owner, view),
	domain: domainSummary(view.domain, {linkDomain: addresses.linkDomain, defaultDomainId: owner.defaultDomainId}),
});

/** The columns that a change may set, with their names in the API. */
const fieldNames = {
	domain_id: 'domainId',
	template_id: 'templateId',
	short_code: 'shortCode',
	external_id: 'externalId',
	path: 'path',
	params: 'params',
	title: 'title',
	tags: 'tags',
	channel: 'channel',
	utm_source: 'utmSource',
	utm_medium: 'utmMedium',
	utm_campaign: 'utmCampaign',
	utm_term: 'utmTerm',
	utm_content: 'utmContent',
	fallback_url: 'fallbackUrl',
	destinations: 'destinations',
	minimum_version: 'minimumVersion',
	og_title: 'og.title',
	og_description: 'og.description',
	og_image_url: 'og.imageUrl',
	expiry: 'expiry',
	is_active: 'isActive',
	deferred_deep_linking: 'deferredDeepLinking',
	match_window_hours: 'matchWindowHours',
} as const satisfies Partial<Record<keyof LinkRow, string>>;
type LinkColumn = keyof typeof fieldNames;
export const linkColumns = Object.keys(fieldNames) as LinkColumn[];

/** The row with the fields of `input`. A null `domainId`, the default domain, must have been replaced by its id. */
export const withInput = (row: LinkRow, input: LinkInput): LinkRow => ({
	...row,
	...inputColumns({...input, isActive: input.isActive === null ? true : input.isActive}, row),
});

/** The columns in which two rows of a link differ. */
export const changedColumns = (before: LinkRow, after: LinkRow): LinkColumn[] =>
	linkColumns.filter((column) => !isDeepStrictEqual(before[column], after[column]));

/** Columns that differ, for an audit record: `{title: {from, to}}`. */
export const changeDetails = (before: LinkRow, after: LinkRow, columns: readonly LinkColumn[]) =>
	Object.fromEntries(columns.map((column) => [fieldNames[column], {from: before[column], to: after[column]}]));
