import {hasFeature, type PlanDeps} from '../../accounts/plans/entitlements.ts';
import type {Address} from '../../links/domains/locate.ts';
import {effectiveColumns} from '../../links/links/link-columns.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import {goneReason, type ResolvedRow} from './resolved-row.ts';

/** As `query` reads it. */
type StoredRow = Omit<ResolvedRow, 'hostname_until'> & {plan: string | null; entitled_until: Date | null};

const resolvedColumns = effectiveColumns(({resolves}) => resolves === true);

/** @param where of the links. @param wanted further tables that name them. */
const query = (where: Sql, wanted = sql``) => sql`
	SELECT links.id, links.organization_id, links.short_code, ${resolvedColumns},
		organizations.org_key, organizations.name AS organization_name, organizations.status AS organization_status,
		CASE WHEN domains.status = 'VERIFIED' THEN domains.hostname END AS hostname,
		organizations.plan, organizations.entitled_until,
		links.decision, app_configs.ios, app_configs.android, app_configs.clipboard_format, app_configs.logo_url
	FROM ${wanted}organizations
	JOIN links ON links.organization_id = organizations.id
	JOIN domains ON domains.id = links.domain_id
	LEFT JOIN templates ON templates.id = links.template_id
	LEFT JOIN app_configs ON app_configs.organization_id = organizations.id
	WHERE ${where}`;
/**
 * The length that arrays of a statement have at least. PostgreSQL would plan short ones anew each time: it reckons with
 * ten elements where it does not know how many there are.
 */
const PLANNED = 10;

const padded = (texts: string[]): Array<string | null> => [
	...texts,
	...Array.from({length: Math.max(0, PLANNED - texts.length)}, () => null),
];

const byAddress = (addresses: readonly Address[]) =>
	prepared(
		'links by address',
		query(
			sql`organizations.org_key = wanted.org_key AND links.short_code = wanted.short_code`,
			sql`unnest(${padded(addresses.map(({orgKey}) => orgKey))}::text[],
				${padded(addresses.map(({shortCode}) => shortCode))}::text[]) AS wanted (org_key, short_code) CROSS JOIN `,
		),
	);
/** The links with the most clicks of people today and yesterday (UTC). */
const mostClicked = (now: Date, most: number) =>
	prepared(
		'links by clicks',
		sql`${query(
			sql`links.id = visited.id`,
			sql`(
			SELECT CAST(key AS uuid) AS id, sum(count) AS clicks FROM organizations AS owners CROSS JOIN LATERAL (
				SELECT key, count FROM rollup_breakdowns WHERE organization_id = owners.id
					AND span = 'day' AND dimension = 'link'
					AND start IN (date_trunc('day', ${now}::timestamptz, 'UTC'), date_trunc('day', ${now}::timestamptz - interval '1 day', 'UTC'))
			) AS rolled GROUP BY key ORDER BY clicks DESC LIMIT ${most}
		) AS visited CROSS JOIN `,
		)} ORDER BY visited.clicks DESC`,
	);
const byId = (id: string) => prepared('link by id', query(sql`links.id = ${id}`));

/** The row at this time: the organization's plan decides whether its domain is served. */
const withServedHost = (services: PlanDeps, {plan, entitled_until: entitledUntil, ...row}: StoredRow): ResolvedRow => {
	const isOnOwn = row.hostname !== null && hasFeature(services, {plan, entitledUntil}, 'custom_domains');
	const ends = isOnOwn && entitledUntil !== null && entitledUntil > services.clock.now();
	return {...row, hostname: isOnOwn ? row.hostname : null, hostname_until: ends ? entitledUntil : null};
};

/** The row of a link if it resolves now, else null. */
export const findLiveLink = async (
	services: PlanDeps & Pick<Services, 'db' | 'linkPolicy'>,
	id: string,
): Promise<ResolvedRow | null> => {
	const [found] = await run<StoredRow>(services.db, byId(id));
	const row = found === undefined ? null : withServedHost(services, found);
	return row === null || goneReason(row, services.clock.now(), services.linkPolicy) !== null ? null : row;
};

/** A row without the app fields that pages do not need: fingerprints alone would outweigh the rest. */
const withoutAppDetails = (row: ResolvedRow): ResolvedRow => ({
	...row,
	android: row.android?.map(({packageName, scheme}) => ({packageName, scheme})) ?? null,
});

/** The row in the form that the cache holds. */
const rowOf = (services: PlanDeps, found: StoredRow): ResolvedRow => withoutAppDetails(withServedHost(services, found));

const addressKey = (orgKey: string, shortCode: string): string => `${orgKey}/${shortCode}`;

type ReadDeps = PlanDeps & Pick<Services, 'db' | 'linkCache'>;

/** The row of an address, from memory or the database; null if there is none. */
export const readLink = (services: ReadDeps, address: Address): Promise<ResolvedRow | null> =>
	services.linkCache.get(address, async (addresses) => {
		const found = await run<StoredRow>(services.db, byAddress(addresses));
		const rows = new Map(found.map((row) => [addressKey(row.org_key, row.short_code), row]));
		return addresses.map(({orgKey, shortCode}) => {
			const row = rows.get(addressKey(orgKey, shortCode));
			return row === undefined ? null : rowOf(services, row);
		});
	});

/** Maximum links that are read ahead: a large cache must not keep a start busy. */
const MAX_AHEAD = 10_000;
const SHARE_AHEAD = 1 / 4;

/** Reads the links with the most clicks today and yesterday (UTC) into the cache, as many as fit into a quarter of it. */
export const readAhead = async (services: ReadDeps & Pick<Services, 'changes'>): Promise<void> => {
	// Memory is cleared when this process begins to receive changes.
	await services.changes.settled();
	await services.linkCache.fill(SHARE_AHEAD, async (most) => {
		const found = await run<StoredRow>(services.db, mostClicked(services.clock.now(), Math.min(most, MAX_AHEAD)));
		return found.map((row) => ({
			address: {orgKey: row.org_key, shortCode: row.short_code},
			value: rowOf(services, row),
		}));
	});
};
