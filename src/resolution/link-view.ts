import type {Addresses} from '../config/config.ts';
import {safeHttpUrl} from '../safe-http-url.ts';
import type {ResolvedLink} from './link-row.ts';
import type {Utm} from './link-targets.ts';

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
	params: Record<string, string>;
	fallbackUrl: string | null;
	utm: Utm;
	/** The match token `opl_…`; null if the link is not deferred. */
	token: string | null;
	ios: {bundleId: string | null; teamId: string | null; appStoreId: string | null; scheme: string | null} | null;
	android: Array<{packageName: string; scheme: string | null}>;
	/** The link host, with the port unless it is 80 or 443. */
	host: string;
};

/** The page's title: the social title, the link's own, the organization's name or the host (contract/resolution 7). */
export const titleOf = ({og, title, organizationName, host}: LinkView): string =>
	[og.title, title, organizationName].find((text) => text !== null && text.trim() !== '') ?? host;

/** The social description, or null. */
export const descriptionOf = ({og}: LinkView): string | null => (og.description?.trim() ? og.description : null);

/** The social image, checked once more (contract/links 10), or null. */
export const imageOf = ({og}: LinkView): string | null =>
	og.imageUrl === null ? null : safeHttpUrl(og.imageUrl, {linkHosts: []});

/** @param token of the visit that receives the page. */
export const linkViewOf = (
	{addresses}: {addresses: Addresses},
	link: ResolvedLink,
	token: string | null,
): LinkView => ({
	organizationName: link.organization.name,
	orgKey: link.organization.orgKey,
	shortCode: link.shortCode,
	url: link.url,
	title: link.title,
	og: link.og,
	path: link.path,
	params: link.params,
	fallbackUrl: link.fallbackUrl,
	utm: link.utm,
	token,
	ios: link.ios,
	android: link.android,
	host: URL.canParse(link.url) ? new URL(link.url).host : addresses.linkDomain,
});
