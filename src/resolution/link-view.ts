import type {Addresses} from '../config/config.ts';
import {safeHttpUrl} from '../safe-http-url.ts';
import type {ResolvedLink} from './link-row.ts';
import type {Utm} from './link-targets.ts';

/** A live link as its pages show it: template and organization defaults are already under its own values. */
export type LinkView = {
	organizationName: string;
	orgKey: string;
	shortCode: string;
	/** The absolute short URL, from configuration, never from the Host header. */
	url: string;
	title: string | null;
	og: {title: string | null; description: string | null; imageUrl: string | null};
	path: string;
	params: Record<string, string>;
	fallbackUrl: string | null;
	utm: Utm;
	/** The match token `opl_…`, or null where the link is not deferred. */
	token: string | null;
	ios: {bundleId: string | null; teamId: string | null; appStoreId: string | null; scheme: string | null} | null;
	android: Array<{packageName: string; scheme: string | null}>;
	/** The link host, with the port where it is not 80 or 443. */
	host: string;
};

/**
 * What the page is called: the social title, the link's own, the organization's name, the host (contract/resolution 7).
 */
export const titleOf = ({og, title, organizationName, host}: LinkView): string =>
	[og.title, title, organizationName].find((text) => text !== null && text.trim() !== '') ?? host;

/** The social description, or null where there is none to show. */
export const descriptionOf = ({og}: LinkView): string | null => (og.description?.trim() ? og.description : null);

/** The social image, checked once more (contract/links 10), or null. */
export const imageOf = ({og}: LinkView): string | null =>
	og.imageUrl === null ? null : safeHttpUrl(og.imageUrl, {linkHosts: []});

/** @param token of the visit that the page is for. */
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
