import {countMonthClicks, type PlanDeps, requirePlan, requireQuota} from '../../accounts/plans/entitlements.ts';
import {APP_LINKS, appLinkLimit, type Plan} from '../../platform/config/plans.ts';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {appConfigRequired, organizationNotFound, quotaExceeded, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {LinkOwner} from './link.ts';
import {type LinkCounts, lockLinkCount} from './link-store.ts';

/** An organization that creates links, with its use of quotas. */
export type Creator = LinkOwner & {hasAppConfig: boolean; counts: LinkCounts; monthClicks: number};

const owner: Columns<LinkOwner> = columnsOf('id, org_key, default_domain_id, plan, entitled_until');

/** Locks an organization against deletion until the transaction ends. @throws 404. */
export const lockOwner = async (trx: Db, organizationId: string): Promise<LinkOwner> => {
	const found: LinkOwner[] = await trx('organizations').where({id: organizationId}).forKeyShare().select(owner.list);
	return required(found[0], organizationNotFound);
};

/**
 * Organizations are locked before the counts of their links, as by a removal, and in one order. Their number is hidden
 * from the planner, which would otherwise plan the statement each time.
 */
const creatorsBy =
	(name: string, lockOwner: Sql, lockCount: Sql) =>
	(ids: readonly string[], month: string): Sql =>
		prepared(
			name,
			sql`WITH owners AS MATERIALIZED (
			SELECT ${owner.of('organizations')} FROM organizations
			WHERE id = ANY ((SELECT CAST(${ids} AS uuid[]))::uuid[]) ORDER BY id ${lockOwner}
		), counts AS MATERIALIZED (
			SELECT organization_id, links, app_links FROM link_counts
			WHERE organization_id = ANY (ARRAY(SELECT id FROM owners)) ORDER BY organization_id ${lockCount}
		)
		SELECT owners.*, links, app_links AS "appLinks",
			EXISTS (SELECT FROM app_configs WHERE organization_id = owners.id) AS "hasAppConfig",
			CAST(coalesce((SELECT clicks FROM click_counts WHERE organization_id = owners.id AND month = ${month}), 0) AS float8)
				AS "monthClicks"
		FROM owners LEFT JOIN counts ON organization_id = owners.id`,
		);
/** Exported for a test. */
export const creatorStatements = {
	read: creatorsBy('read creators of links', sql``, sql``),
	lock: creatorsBy('lock creators of links', sql`FOR KEY SHARE`, sql`FOR UPDATE`),
	tryLock: creatorsBy('lock free creators of links', sql`FOR KEY SHARE SKIP LOCKED`, sql`FOR UPDATE SKIP LOCKED`),
};

type Row = Omit<Creator, 'counts'> & {links: number | null; appLinks: number | null};

const readRows = (db: Db, ids: readonly string[], now: Date, mode: keyof typeof creatorStatements) =>
	run<Row>(db, creatorStatements[mode](ids, `${now.toISOString().slice(0, 7)}-01`));

/** The creator of a row with counts; null without. */
const creatorOf = ({links, appLinks, ...found}: Row): Creator | null =>
	links === null || appLinks === null ? null : {...found, counts: {links, appLinks}};

/**
 * Reads the facts that decide whether an organization may create links. With 'lock' no other transaction creates, removes or
 * renames one of its links until this one ends, so its counts are exact. @throws 404.
 */
export const readCreator = async (
	db: Db,
	{organizationId, now}: {organizationId: string; now: Date},
	mode: 'read' | 'lock',
): Promise<Creator> => {
	const row = required((await readRows(db, [organizationId], now, mode))[0], organizationNotFound);
	const {links: _, appLinks: __, ...found} = row;
	// Before the first link there is no count to lock.
	const none = async () => (mode === 'lock' ? lockLinkCount(db, organizationId) : {links: 0, appLinks: 0});
	return creatorOf(row) ?? {...found, counts: await none()};
};

/** Locks those of several that no other transaction has locked, and that have links; the others are left out. */
export const lockFreeCreators = async (trx: Db, ids: readonly string[], now: Date): Promise<Map<string, Creator>> => {
	const creators = (await readRows(trx, ids, now, 'tryLock')).flatMap((row) => creatorOf(row) ?? []);
	return new Map(creators.map((creator) => [creator.id, creator]));
};

/** The plan under which the creator may create links. @throws 402 without a plan, 428 without an app configuration. */
export const requireCreationTerms = (services: PlanDeps, creator: Creator): Plan => {
	const plan = requirePlan(services, creator);
	if (!creator.hasAppConfig) {
		throw appConfigRequired();
	}

	return plan;
};

/** @throws 402 if another link is over a quota of the plan: of links, of apps' share in them, or of clicks. */
export const requireQuotas = (
	{refusals}: Pick<Services, 'refusals'>,
	plan: Plan,
	{id, counts, monthClicks}: Creator,
	{isByApp = false, created = 0} = {},
): void => {
	requireQuota(plan, 'links', counts.links + created);
	if (isByApp && counts.appLinks >= (appLinkLimit(plan) ?? Number.POSITIVE_INFINITY)) {
		refusals.note(id, APP_LINKS);
		throw quotaExceeded(APP_LINKS);
	}

	requireQuota(plan, 'clicks', monthClicks);
};

/** Over the click quota links resolve on, but are neither created nor changed (contract/links 9). @throws 402. */
export const requireClickQuota = async (trx: Db, owner: LinkOwner, plan: Plan, now: Date): Promise<void> => {
	if (plan.quotas.clicks !== null) {
		requireQuota(plan, 'clicks', await countMonthClicks(trx, owner.id, now));
	}
};
