import type {IncomingMessage} from 'node:http';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {linkGone, linkNotFound} from '../errors.ts';
import type {RequestFacts} from '../http/route.ts';
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

/** @param where of the links. @param wanted further tables that name them. */
const query = (where: string, wanted = '') => `
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
	FROM ${wanted}organizations
	JOIN links ON links.organization_id = organizations.id
	JOIN domains ON domains.id = links.domain_id
	LEFT JOIN templates ON templates.id = links.template_id
	LEFT JOIN app_configs ON app_configs.organization_id = organizations.id
	WHERE ${where}`;
const byAddress: Prepared = {
	name: 'links by address',
	text: query(
		'organizations.org_key = wanted.org_key AND links.short_code = wanted.short_code',
		'unnest($1::text[], $2::text[]) AS wanted (org_key, short_code) CROSS JOIN ',
	),
};
/** The links with the most clicks of people today and yesterday (UTC). */
const byTaps: Prepared = {
	name: 'links by taps',
	text: `${query(
		'links.id = tapped.id',
		`(
			SELECT CAST(key AS uuid) AS id, sum(count) AS taps FROM organizations AS owners CROSS JOIN LATERAL (
				SELECT key, count FROM rollup_breakdowns WHERE organization_id = owners.id
					AND span = 'day' AND dimension = 'link'
					AND start IN (date_trunc('day', $1::timestamptz, 'UTC'), date_trunc('day', $1::timestamptz - interval '1 day', 'UTC'))
			) AS rolled GROUP BY key ORDER BY taps DESC LIMIT $2
		) AS tapped CROSS JOIN `,
	)} ORDER BY tapped.taps DESC`,
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

/** As a cache keeps it. */
const rowOf = (services: PlanDeps, found: StoredRow): LinkRow => slim(withServedHost(services, found));

/**
 * The length that arrays of a statement have at least. PostgreSQL would plan short ones anew each time: it reckons with
 * ten elements where it does not know how many there are.
 */
const PLANNED = 10;

const padded = (texts: string[]): Array<string | null> => [
	...texts,
	...Array.from({length: Math.max(0, PLANNED - texts.length)}, () => null),
];

const addressKey = (orgKey: string, shortCode: string): string => `${orgKey}/${shortCode}`;

type ReadDeps = PlanDeps & Pick<Services, 'db' | 'linkCache'>;

/** The row of an address, from memory or the database; null if there is none. */
export const readLink = (services: ReadDeps, address: Address): Promise<LinkRow | null> =>
	services.linkCache.get(address, async (addresses) => {
		const found = await runPrepared<StoredRow>(services.db, byAddress, [
			padded(addresses.map(({orgKey}) => orgKey)),
			padded(addresses.map(({shortCode}) => shortCode)),
		]);
		const rows = new Map(found.map((row) => [addressKey(row.org_key, row.short_code), row]));
		return addresses.map(({orgKey, shortCode}) => {
			const row = rows.get(addressKey(orgKey, shortCode));
			return row === undefined ? null : rowOf(services, row);
		});
	});

/** The most links that are read ahead, so that a large cache does not keep a start busy. */
const MOST_AHEAD = 10_000;
const SHARE_AHEAD = 1 / 4;

/** Reads the links that people tapped most today and yesterday (UTC) into memory, as many as fit into a quarter of it. */
export const readAhead = async (services: ReadDeps & Pick<Services, 'changes'>): Promise<void> => {
	// Memory is cleared when this process begins to receive changes.
	await services.changes.settled();
	await services.linkCache.fill(SHARE_AHEAD, async (most) => {
		const found = await runPrepared<StoredRow>(services.db, byTaps, [services.clock.now(), Math.min(most, MOST_AHEAD)]);
		return found.map((row) => ({
			address: {orgKey: row.org_key, shortCode: row.short_code},
			value: rowOf(services, row),
		}));
	});
};

/** What the hot path has read for requests that it passes on, so that each link is looked up once. */
export const linksRead = new WeakMap<IncomingMessage, Promise<LinkRow | null>>();

/**
 * The row of the live link that a host and a path name.
 * @throws 400 for a malformed orgKey; 404 for an unknown host, organization or code; 410 for a link that is deactivated
 * or expired, or whose organization is suspended.
 */
export const resolveLink = async (
	services: ResolveDeps,
	{hostname, stream}: Pick<RequestFacts, 'hostname' | 'stream'>,
	path: ResolutionPath,
): Promise<{row: LinkRow; data: boolean}> => {
	const {address, data} = await locate(services, hostname, path);
	// No link has a malformed code, and PostgreSQL would reject some of them.
	if (!SHORT_CODE.test(address.shortCode)) {
		throw linkNotFound();
	}

	const row = await (linksRead.get(stream) ?? readLink(services, address));
	if (row === null) {
		throw linkNotFound();
	}

	const reason = goneReason(row, services.clock.now());
	if (reason !== null) {
		throw linkGone(reason);
	}

	return {row, data};
};
