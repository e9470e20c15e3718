import {type Prepared, runPrepared} from '../db/prepared.ts';
import {linkGone, linkNotFound} from '../errors.ts';
import {platformSql} from '../links/platform-fields.ts';
import {hasFeature, type PlanDeps} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {goneReason, type LinkRow} from './link-row.ts';
import {type Address, type HostDeps, locate, type ResolutionPath} from './locate.ts';

export type ResolveDeps = HostDeps & Pick<Services, 'linkCache'>;

/** As `query` reads it. */
type StoredRow = Omit<LinkRow, 'hostname_until'> & {plan: string | null; entitled_until: Date | null};

/** Hours of a link's match window if neither it nor its template sets them (contract/links 1). */
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
		${platformSql('destinations')} AS destinations, ${platformSql('minimum_version')} AS minimum_version,
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
		app_configs.ios, app_configs.android, app_configs.clipboard_format, app_configs.logo_url
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
const byId: Prepared = {name: 'link by id', text: query('links.id = $1')};

/** The row at this time: the organization's plan decides whether its domain is served. */
const withServedHost = (services: PlanDeps, {plan, entitled_until: entitledUntil, ...row}: StoredRow): LinkRow => {
	const isOnOwn = row.hostname !== null && hasFeature(services, {plan, entitledUntil}, 'custom_domains');
	const ends = isOnOwn && entitledUntil !== null && entitledUntil > services.clock.now();
	return {...row, hostname: isOnOwn ? row.hostname : null, hostname_until: ends ? entitledUntil : null};
};

/** The SQL form of `goneReason`: whether the link of `links` and `organizations` resolves at `now`. */
export const isLiveSql = (now: string): string =>
	`(organizations.status <> 'SUSPENDED' AND links.is_active AND (links.expiry IS NULL OR links.expiry > ${now}))`;

/** The row of a link if it resolves now, else null. */
export const findLiveLink = async (services: PlanDeps & Pick<Services, 'db'>, id: string): Promise<LinkRow | null> => {
	const [found] = await runPrepared<StoredRow>(services.db, byId, [id]);
	const row = found === undefined ? null : withServedHost(services, found);
	return row === null || goneReason(row, services.clock.now()) !== null ? null : row;
};

/** A row without the app fields that pages do not need: fingerprints alone would outweigh the rest. */
const slim = (row: LinkRow): LinkRow => ({
	...row,
	android: row.android?.map(({packageName, scheme}) => ({packageName, scheme})) ?? null,
});

/** The row of an address, from memory or the database; null if there is none. */
export const readLink = (
	services: PlanDeps & Pick<Services, 'db' | 'linkCache'>,
	{orgKey, shortCode}: Address,
): Promise<LinkRow | null> =>
	services.linkCache.get(orgKey, shortCode, async () => {
		const [found] = await runPrepared<StoredRow>(services.db, byOrgKey, [orgKey, shortCode]);
		return found === undefined ? null : slim(withServedHost(services, found));
	});

/**
 * The row of the live link that a host and a path name.
 * @throws 400 for a malformed orgKey; 404 for an unknown host, organization or code; 410 for a link that is deactivated
 * or expired, or whose organization is suspended.
 */
export const resolveLink = async (
	services: ResolveDeps,
	hostname: string | null,
	path: ResolutionPath,
): Promise<{row: LinkRow; data: boolean}> => {
	const {address, data} = await locate(services, hostname, path);
	// No link has a malformed code, and PostgreSQL would reject some of them.
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
