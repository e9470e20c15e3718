import {isDeepStrictEqual} from 'node:util';
import type {Entitled} from '../../accounts/plans/entitlements.ts';
import type {Addresses} from '../../platform/config/config.ts';
import {type Domain, domainSummary} from '../domains/domain.ts';
import {inputColumns, ownFieldsOf, sharedFieldsOf} from './link-columns.ts';
import {
	type InputFields,
	type LinkColumn,
	type LinkColumns,
	type LinkFieldName,
	linkColumns,
	linkFields,
} from './link-fields.ts';
import type {Decision, Addresses as LinkAddresses, Safety} from './link-safety.ts';
import {shortUrl} from './short-code.ts';

/** A row of `links`. A null column is a field that the link leaves to its template. */
export type LinkRow = LinkColumns<LinkFieldName> & {
	id: string;
	organization_id: string;
	decision: Decision | null;
	created_at: Date;
	updated_at: Date;
};

/** The fields of a body: an absent one stays as it is, null clears. */
export type LinkInput = InputFields<LinkFieldName>;

/** The addresses of a template, as its columns are read. */
type ShownAddresses = {
	fallbackUrl: string | null;
	destinations: LinkAddresses['destinations'];
	ogImageUrl: string | null;
};

/** The part of a template that a link's JSON needs. */
export type LinkTemplate = {
	id: string;
	path: string | null;
	deferredDeepLinking: boolean | null;
	matchWindowHours: number | null;
} & ShownAddresses;

/**
 * A link with the other rows that its JSON needs. `hostname` is its URL's: null for the shared domain, and if its
 * own is not served.
 */
export type JoinedLink = {
	link: LinkRow;
	domain: Domain;
	hostname: string | null;
	template: LinkTemplate | null;
	safety: Safety | null;
};

/** The organization as links see it. */
export type LinkOwner = Entitled & {id: string; orgKey: string; defaultDomainId: string | null};

/** The two fields that a response shows as they take effect: own, else the template's, else the default. */
export const effectiveMatching = (link: LinkRow, template: LinkTemplate | null) => ({
	deferredDeepLinking:
		link.deferred_deep_linking ?? template?.deferredDeepLinking ?? linkFields.deferredDeepLinking.default,
	matchWindowHours: link.match_window_hours ?? template?.matchWindowHours ?? linkFields.matchWindowHours.default,
});

/** A link as create and update answer it, without a domain object (contract/links 2). */
export const linkJson = (
	addresses: Addresses,
	{orgKey}: Pick<LinkOwner, 'orgKey'>,
	{link, hostname, template, safety}: Omit<JoinedLink, 'domain'>,
) => {
	const {domainId, shortCode, title, expiry, ...own} = ownFieldsOf(link);
	return {
		id: link.id,
		organizationId: link.organization_id,
		domainId,
		shortCode,
		url: shortUrl(addresses, {hostname, orgKey, shortCode}),
		...sharedFieldsOf(link),
		title,
		expiry,
		...own,
		...effectiveMatching(link, template),
		...(safety === null ? {} : {safety}),
		createdAt: link.created_at,
		updatedAt: link.updated_at,
	};
};
export type LinkJson = ReturnType<typeof linkJson>;

/** A link as list, get and export answer it. */
export const linkJsonWithDomain = (addresses: Addresses, owner: LinkOwner, view: JoinedLink) => ({
	...linkJson(addresses, owner, view),
	domain: domainSummary(view.domain, {linkDomain: addresses.linkDomain, defaultDomainId: owner.defaultDomainId}),
});

/** The row with the fields of `input`. A null `domainId`, the default domain, must have been replaced by its id. */
export const withInput = (row: LinkRow, input: LinkInput): LinkRow => ({
	...row,
	...inputColumns({...input, isActive: input.isActive === null ? true : input.isActive}, row),
});

/** The columns in which two rows of a link differ. */
export const changedColumns = (before: LinkRow, after: LinkRow): LinkColumn[] =>
	linkColumns.map(({column}) => column).filter((column) => !isDeepStrictEqual(before[column], after[column]));

/** Columns that differ, for an audit record: `{title: {from, to}}`. */
export const changeDetails = (before: LinkRow, after: LinkRow, columns: readonly LinkColumn[]) =>
	Object.fromEntries(
		linkColumns
			.filter(({column}) => columns.includes(column))
			.map(({name, column}) => [name, {from: before[column], to: after[column]}]),
	);
