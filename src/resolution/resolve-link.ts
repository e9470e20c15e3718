import {type Prepared, runPrepared} from '../db/prepared.ts';
import {linkGone, linkNotFound} from '../errors.ts';
import {shortUrl} from '../links/short-url.ts';
import {hasFeature, type PlanDeps} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {type Address, locate, type ResolutionPath} from './locate.ts';

/** A link as it resolves: its own values over its template's, and those over the organization's (contract/links 4). */
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
	/** The custom domain of its URL; null: the shared one, as also where its own does not serve. */
	hostname: string | null;
	/** When `hostname` stops serving unless somebody writes; null: it does not. */
	hostname_until: Date | null;
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

/** As `query` reads it. */
type StoredRow = Omit<LinkRow, 'hostname_until'> & {plan: string | null; entitled_until: Date | null};

/** Hours of a link's match window where neither it nor its template says (contract/links 1). */
const MATCH_WINDOW_HOURS = 168;

const SHORT_CODE = /^[A-Za-z0-9_-]{1,64}$/;

const query = (where: string) => `
	SELECT links.id, links.organization_id, links.short_code, links.is_active, links.expiry, links.title,
		organizations.org_key, organizations.name AS organization_name, organizations.status AS organization_status,
		CASE WHEN domains.status = 'VERIFIED' THEN domains.hostname END AS hostname,
		organizations.plan, organizations.entitled_until,
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

/** The row as it stands now: whether its domain serves is decided by the organization's plan. */
const withServedHost = (services: PlanDeps, {plan, entitled_until: entitledUntil, ...row}: StoredRow): LinkRow => {
	const isOnOwn = row.hostname !== null && hasFeature(services, {plan, entitledUntil}, 'custom_domains');
	const ends = isOnOwn && entitledUntil !== null && entitledUntil > services.clock.now();
	return {...row, hostname: isOnOwn ? row.hostname : null, hostname_until: ends ? entitledUntil : null};
};

/** Whether a row that was kept still stands. */
export const isCurrent = ({hostname_until: until}: LinkRow, now: Date): boolean => until === null || until > now;

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

	const rows = (await runPrepared<StoredRow>(services.db, byIds, [ids])).map((row) => withServedHost(services, row));
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
export const readLink = (services: Services, {orgKey, shortCode}: Address): Promise<LinkRow | null> =>
	services.linkCache.get(orgKey, shortCode, async () => {
		const [found] = await runPrepared<StoredRow>(services.db, byOrgKey, [orgKey, shortCode]);
		return found === undefined ? null : slim(withServedHost(services, found));
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
