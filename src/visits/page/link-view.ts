import type {ClipboardFormat} from '../../links/app-config/app-config.ts';
import {type LinkFieldValue, urlColumns} from '../../links/links/link-fields.ts';
import {withParameters} from '../../links/links/link-targets.ts';
import {shortUrl} from '../../links/links/short-code.ts';
import type {Addresses, Config} from '../../platform/config/config.ts';
import {safeHttpUrl} from '../../platform/safe-http-url.ts';
import {ownParams, type ResolvedRow} from '../visit/resolved-row.ts';
import {withQuery} from '../visit/tap-query.ts';

/** A live link as its pages show it, with the defaults of its template and organization applied. */
export type LinkView = {
	organizationName: string;
	orgKey: string;
	shortCode: string;
	/** The absolute short URL, built from configuration and never from the Host header. */
	url: string;
	title: string | null;
	og: {title: string | null; description: string | null; imageUrl: string | null};
	path: string;
	/** With the query's. */
	params: Record<string, string>;
	/** The query of the visit that receives the page; null if there is none. */
	query: Record<string, string> | null;
	fallbackUrl: string | null;
	destinations: LinkFieldValue<'destinations'> | null;
	/** The campaign values by their names in URLs, such as `utm_source`. */
	utm: Readonly<Record<string, string>>;
	/** The match token `opl_…`; null if the link is not deferred. */
	token: string | null;
	ios: ResolvedRow['ios'];
	android: NonNullable<ResolvedRow['android']>;
	clipboardFormat: ClipboardFormat;
	/** The organization's logo. */
	logoUrl: string | null;
	/** Where people report the link; null if reports are not taken. */
	reportUrl: string | null;
	/** The link host, with the port unless it is 80 or 443. */
	host: string;
};

/** The page's title: the social title, the link's own, the organization's name or the host (contract/resolution 7). */
export const titleOf = ({og, title, organizationName, host}: LinkView): string =>
	[og.title, title, organizationName].find((text) => text !== null && text.trim() !== '') ?? host;

/** The short URL with the visit's query, to be opened or shared (contract/resolution 23). */
export const sharedUrl = ({url, params, query}: LinkView): string => {
	if (query === null) {
		return url;
	}

	const merged: Record<string, string> = {};
	for (const name in params) {
		if (Object.hasOwn(query, name)) {
			merged[name] = params[name] ?? '';
		}
	}

	return withParameters(url, merged);
};

/** The social description, or null. */
export const descriptionOf = ({og}: LinkView): string | null => (og.description?.trim() ? og.description : null);

/** The URL of a picture, checked once more (contract/links 10), or null. */
const pictureOf = (url: string | null): string | null => (url === null ? null : safeHttpUrl(url, {linkHosts: []}));

/** The social image, or null. */
export const imageOf = ({og}: LinkView): string | null => pictureOf(og.imageUrl);

/** The organization's logo if a page may show it, or null: the policy blocks pictures over plain http. */
export const logoOf = ({logoUrl}: LinkView): string | null => {
	const url = pictureOf(logoUrl);
	return url?.startsWith('https:') ? url : null;
};

export type ViewDeps = {addresses: Addresses; config: Pick<Config, 'abuseContact'>};

/** The row's link on the shared domain or its own. */
const urlOf = ({addresses}: {addresses: Addresses}, row: ResolvedRow): string =>
	shortUrl(addresses, {hostname: row.hostname, orgKey: row.org_key, shortCode: row.short_code});

/** The link without a visit. */
export const baseViewOf = (services: ViewDeps, row: ResolvedRow): LinkView => {
	const url = urlOf(services, row);
	return {
		organizationName: row.organization_name,
		orgKey: row.org_key,
		shortCode: row.short_code,
		url,
		title: row.title,
		og: {title: row.og_title, description: row.og_description, imageUrl: row.og_image_url},
		path: row.path ?? '/',
		params: ownParams(row),
		query: null,
		fallbackUrl: row.fallback_url,
		destinations: row.destinations,
		utm: Object.fromEntries(urlColumns.flatMap(({column}) => (row[column] ? [[column, row[column]]] : []))),
		token: null,
		ios: row.ios,
		android: row.android ?? [],
		clipboardFormat: row.clipboard_format ?? 'token',
		logoUrl: row.logo_url,
		reportUrl:
			services.config.abuseContact === null
				? null
				: `${services.addresses.publicUrl}/report?link=${encodeURIComponent(url)}`,
		host: URL.canParse(url) ? new URL(url).host : services.addresses.linkDomain,
	};
};

/** The link for the visit that receives the page. */
export const viewOfVisit = (view: LinkView, token: string | null, query: LinkView['query']): LinkView => ({
	...view,
	token,
	query,
	params: query === null ? view.params : withQuery(view.params, query),
});
