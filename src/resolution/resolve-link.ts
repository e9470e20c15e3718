import {type Prepared, runPrepared} from '../db/prepared.ts';
import {linkGone, linkNotFound} from '../errors.ts';
import {effectiveColumns} from '../links/link-columns.ts';
import {isShortCode} from '../links/short-code.ts';
import {hasFeature, type PlanDeps} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {type Address, type HostDeps, locate, type ResolutionPath} from './locate.ts';
import {goneReason, type ResolvedRow} from './resolved-row.ts';

export type ResolveDeps = HostDeps & Pick<Services, 'linkCache'>;

/** As `query` reads it. */
type StoredRow = Omit<ResolvedRow, 'hostname_until'> & {plan: string | null; entitled_until: Date | null};

const query = (where: string) => `
	SELECT links.id, links.organization_id, ${effectiveColumns(({resolves}) => resolves === true)},
		organizations.org_key, organizations.name AS organization_name, organizations.status AS organization_status,
		CASE WHEN domains.status = 'VERIFIED' THEN domains.hostname END AS hostname,
		organizations.plan, organizations.entitled_until,
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
const withServedHost = (services: PlanDeps, {plan, entitled_until: entitledUntil, ...row}: StoredRow): ResolvedRow => {
	const isOnOwn = row.hostname !== null && hasFeature(services, {plan, entitledUntil}, 'custom_domains');
	const ends = isOnOwn && entitledUntil !== null && entitledUntil > services.clock.now();
	return {...row, hostname: isOnOwn ? row.hostname : null, hostname_until: ends ? entitledUntil : null};
};

/** The row of a link if it resolves now, else null. */
export const findLiveLink = async (
	services: PlanDeps & Pick<Services, 'db'>,
	id: string,
): Promise<ResolvedRow | null> => {
	const [found] = await runPrepared<StoredRow>(services.db, byId, [id]);
	const row = found === undefined ? null : withServedHost(services, found);
	return row === null || goneReason(row, services.clock.now()) !== null ? null : row;
};

/** A row without the app fields that pages do not need: fingerprints alone would outweigh the rest. */
const slim = (row: ResolvedRow): ResolvedRow => ({
	...row,
	android: row.android?.map(({packageName, scheme}) => ({packageName, scheme})) ?? null,
});

/** The row of an address, from memory or the database; null if there is none. */
export const readLink = (
	services: PlanDeps & Pick<Services, 'db' | 'linkCache'>,
	{orgKey, shortCode}: Address,
): Promise<ResolvedRow | null> =>
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
): Promise<{row: ResolvedRow; data: boolean}> => {
	const {address, data} = await locate(services, hostname, path);
	// No link has a malformed code, and PostgreSQL would reject some of them.
	if (!isShortCode(address.shortCode)) {
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
