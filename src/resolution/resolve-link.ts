import {type Prepared, runPrepared} from '../db/prepared.ts';
import {findVerifiedDomain, type VerifiedDomain} from '../domains/domain-store.ts';
import {linkGone, linkNotFound, unknownLinkDomain, unknownPath, validationFailed} from '../errors.ts';
import {shortUrl} from '../links/short-url.ts';
import {ORG_KEY} from '../organizations/org-key.ts';
import type {Services} from '../services.ts';

/** A link as it resolves: its own values over its template's, and those over the organization's (decisions 4). */
export type ResolvedLink = {
	id: string;
	organization: {id: string; orgKey: string; name: string};
	shortCode: string;
	url: string;
	path: string;
	params: Record<string, string>;
	title: string | null;
	channel: string | null;
	fallbackUrl: string | null;
	og: {title: string | null; description: string | null; imageUrl: string | null};
	utm: {
		source: string | null;
		medium: string | null;
		campaign: string | null;
		term: string | null;
		content: string | null;
	};
	deferredDeepLinking: boolean;
	matchWindowHours: number;
	ios: {bundleId: string | null; teamId: string | null; appStoreId: string | null; scheme: string | null} | null;
	android: Array<{packageName: string; scheme: string | null}>;
};

/** What an address resolves to, as it is stored: whether it resolves is for the moment of the visit to say. */
export type LinkRow = {
	id: string;
	organization_id: string;
	org_key: string;
	organization_name: string;
	organization_status: string;
	hostname: string | null;
	short_code: string;
	is_active: boolean;
	expiry: Date | null;
	path: string | null;
	template_params: Record<string, string> | null;
	params: Record<string, string> | null;
	title: string | null;
	channel: string | null;
	fallback_url: string | null;
	og_title: string | null;
	og_description: string | null;
	og_image_url: string | null;
	utm_source: string | null;
	utm_medium: string | null;
	utm_campaign: string | null;
	utm_term: string | null;
	utm_content: string | null;
	deferred_deep_linking: boolean;
	match_window_hours: number;
	ios: ResolvedLink['ios'];
	android: ResolvedLink['android'] | null;
};

/** Hours of a link's match window where neither it nor its template says (decisions 4). */
const MATCH_WINDOW_HOURS = 168;

const SHORT_CODE = /^[A-Za-z0-9_-]{1,64}$/;

const query = (where: string) => `
	SELECT links.id, links.organization_id, links.short_code, links.is_active, links.expiry, links.title,
		organizations.org_key, organizations.name AS organization_name, organizations.status AS organization_status,
		domains.hostname,
		coalesce(links.path, templates.path) AS path,
		templates.params AS template_params, links.params,
		coalesce(links.channel, templates.channel) AS channel,
		coalesce(links.fallback_url, templates.fallback_url, app_configs.fallback_url) AS fallback_url,
		coalesce(links.og_title, templates.og_title, app_configs.og_title) AS og_title,
		coalesce(links.og_description, templates.og_description, app_configs.og_description) AS og_description,
		coalesce(links.og_image_url, templates.og_image_url, app_configs.og_image_url) AS og_image_url,
		coalesce(links.utm_source, templates.utm_source) AS utm_source,
		coalesce(links.utm_medium, templates.utm_medium) AS utm_medium,
		coalesce(links.utm_campaign, templates.utm_campaign) AS utm_campaign,
		coalesce(links.utm_term, templates.utm_term) AS utm_term,
		coalesce(links.utm_content, templates.utm_content) AS utm_content,
		coalesce(links.deferred_deep_linking, templates.deferred_deep_linking, true) AS deferred_deep_linking,
		coalesce(links.match_window_hours, templates.match_window_hours, ${MATCH_WINDOW_HOURS}) AS match_window_hours,
		app_configs.ios, app_configs.android
	FROM organizations
	JOIN links ON links.organization_id = organizations.id
	JOIN domains ON domains.id = links.domain_id
	LEFT JOIN templates ON templates.id = links.template_id
	LEFT JOIN app_configs ON app_configs.organization_id = organizations.id
	WHERE ${where}`;
const byOrgKey: Prepared = {
	name: 'link by address',
	text: query('organizations.org_key = $1 AND links.short_code = $2'),
};
const byIds: Prepared = {name: 'links by id', text: query('links.id = ANY($1)')};

/** What a path names: a code of an organization, which on a custom domain the domain says. */
export type Address = {orgKey: string; shortCode: string};

/** A resolution path as the router split it. A path of one segment has no `orgKey`. */
export type ResolutionPath = {orgKey?: string; shortCode: string; data: boolean};

const malformedOrgKey = () =>
	validationFailed([{message: 'orgKey must be exactly 4 alphanumeric characters', field: 'orgKey'}]);

/**
 * The verified custom domain of a host name, as every request for another host than ours asks.
 * @param before runs before the database is asked, and may refuse: anybody may send any name.
 */
export const knownDomain = (
	{db, hostCache}: Services,
	hostname: string,
	before: () => Promise<void> = async () => {},
): Promise<VerifiedDomain | null> =>
	hostCache.get(hostname, async () => {
		await before();
		return findVerifiedDomain(db, hostname);
	});

/**
 * Which link a host and a path name, and whether its data is asked for (decisions 2). On a custom domain
 * `/:shortCode/data` has the look of an orgKey and a code; its own orgKey in front decides.
 * @throws 400 for a malformed orgKey, before any lookup; 404 for an unknown host, or another organization's orgKey on
 * a custom domain.
 */
export const locate = async (
	services: Services,
	hostname: string | null,
	{orgKey, shortCode, data}: ResolutionPath,
): Promise<{address: Address; data: boolean}> => {
	const role = services.hostRoles.roleOf(hostname);
	const mayBeBareData = role === 'other' && shortCode === 'data' && !data;
	if (orgKey !== undefined && !ORG_KEY.test(orgKey) && !mayBeBareData) {
		throw malformedOrgKey();
	}

	if (role === 'link' || role === 'both') {
		if (orgKey === undefined) {
			throw unknownPath();
		}

		return {address: {orgKey, shortCode}, data};
	}

	const domain = role === 'api' || hostname === null ? null : await knownDomain(services, hostname);
	if (domain === null) {
		throw orgKey === undefined ? unknownPath() : unknownLinkDomain();
	}

	if (orgKey === undefined) {
		return {address: {orgKey: domain.orgKey, shortCode}, data};
	}

	if (orgKey === domain.orgKey) {
		return {address: {orgKey: domain.orgKey, shortCode}, data};
	}

	if (mayBeBareData) {
		return {address: {orgKey: domain.orgKey, shortCode: orgKey}, data: true};
	}

	throw linkNotFound();
};

/** The link of a row. */
export const toResolvedLink = ({addresses}: Pick<Services, 'addresses'>, row: LinkRow): ResolvedLink => ({
	id: row.id,
	organization: {id: row.organization_id, orgKey: row.org_key, name: row.organization_name},
	shortCode: row.short_code,
	url: shortUrl(addresses, {hostname: row.hostname, orgKey: row.org_key, shortCode: row.short_code}),
	path: row.path ?? '/',
	params: {...row.template_params, ...row.params},
	title: row.title,
	channel: row.channel,
	fallbackUrl: row.fallback_url,
	og: {title: row.og_title, description: row.og_description, imageUrl: row.og_image_url},
	utm: {
		source: row.utm_source,
		medium: row.utm_medium,
		campaign: row.utm_campaign,
		term: row.utm_term,
		content: row.utm_content,
	},
	deferredDeepLinking: row.deferred_deep_linking,
	matchWindowHours: row.match_window_hours,
	ios: row.ios,
	android: row.android ?? [],
});

/** Why a link does not resolve, or null where it does. */
export const goneReason = (row: LinkRow, now: Date): Parameters<typeof linkGone>[0] | null => {
	if (row.organization_status === 'SUSPENDED') {
		return 'suspended';
	}

	if (!row.is_active) {
		return 'deactivated';
	}

	return row.expiry !== null && row.expiry <= now ? 'expired' : null;
};

/** As `goneReason`, in SQL: whether the link of `links` and `organizations` resolves at `now`. */
export const isLiveSql = (now: string): string =>
	`(organizations.status <> 'SUSPENDED' AND links.is_active AND (links.expiry IS NULL OR links.expiry > ${now}))`;

/** Those of the links that resolve now, by id. */
export const findLiveLinks = async (services: Services, ids: readonly string[]): Promise<Map<string, ResolvedLink>> => {
	if (ids.length === 0) {
		return new Map();
	}

	const rows = await runPrepared<LinkRow>(services.db, byIds, [ids]);
	const now = services.clock.now();
	return new Map(
		rows.filter((row) => goneReason(row, now) === null).map((row) => [row.id, toResolvedLink(services, row)]),
	);
};

/** A row without what no page needs of an app: its fingerprints alone would be more than all the rest. */
const slim = (row: LinkRow): LinkRow => ({
	...row,
	android: row.android?.map(({packageName, scheme}) => ({packageName, scheme})) ?? null,
});

/** The row of an address, from memory or from the database; null where nothing is there. */
export const readLink = ({db, linkCache}: Services, {orgKey, shortCode}: Address): Promise<LinkRow | null> =>
	linkCache.get(orgKey, shortCode, async () => {
		const [found] = await runPrepared<LinkRow>(db, byOrgKey, [orgKey, shortCode]);
		return found === undefined ? null : slim(found);
	});

/**
 * The row of the live link that a host and a path name.
 * @throws 400 for a malformed orgKey; 404 for an unknown host, organization or code; 410 for a link that is
 * deactivated or expired, or whose organization is suspended.
 */
export const resolveLink = async (
	services: Services,
	hostname: string | null,
	path: ResolutionPath,
): Promise<{row: LinkRow; data: boolean}> => {
	const {address, data} = await locate(services, hostname, path);
	// A malformed code names nothing, and PostgreSQL would refuse some of them.
	if (!SHORT_CODE.test(address.shortCode)) {
		throw linkNotFound();
	}

	const row = await readLink(services, address);
	if (row === null) {
		throw linkNotFound();
	}

	const reason = goneReason(row, services.clock.now());
	if (reason !== null) {
		throw linkGone(reason);
	}

	return {row, data};
};
