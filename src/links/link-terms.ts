import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {appConfigRequired, organizationNotFound, quotaExceeded, required} from '../errors.ts';
import {type PlanDeps, requirePlan, requireQuota} from '../plans/entitlements.ts';
import {countMonthClicks} from '../plans/month-clicks.ts';
import {APP_LINKS, appLinkLimit, type Plan} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import type {LinkOwner} from './link.ts';
import {type LinkCounts, lockLinkCount} from './link-store.ts';

/** An organization as a create of links finds it, with what its quotas are compared with. */
export type Creator = LinkOwner & {hasAppConfig: boolean; counts: LinkCounts; monthClicks: number};

const owner =
	'id, org_key AS "orgKey", default_domain_id AS "defaultDomainId", plan, entitled_until AS "entitledUntil"';

/** An organization that stays until the transaction ends. @throws 404 where it is gone. */
export const lockOwner = async (trx: Db, organizationId: string): Promise<LinkOwner> => {
	const {rows} = await trx.raw<{rows: LinkOwner[]}>(
		`SELECT ${owner} FROM organizations WHERE id = ? FOR KEY SHARE OF organizations`,
		[organizationId],
	);
	return required(rows[0], organizationNotFound);
};

/** The organization is locked before the count of its links, as by its removal. */
const creatorBy = (name: string, [lockOwner, lockCount]: [string, string]): Prepared => ({
	name,
	text: `WITH owner AS MATERIALIZED (
			SELECT ${owner} FROM organizations WHERE id = $1 ${lockOwner}
		), counts AS MATERIALIZED (
			SELECT links, app_links FROM link_counts WHERE organization_id = (SELECT id FROM owner) ${lockCount}
		)
		SELECT owner.*, links, app_links AS "appLinks",
			EXISTS (SELECT FROM app_configs WHERE organization_id = owner.id) AS "hasAppConfig",
			CAST(coalesce((SELECT clicks FROM click_counts WHERE organization_id = owner.id AND month = $2), 0) AS float8)
				AS "monthClicks"
		FROM owner LEFT JOIN counts ON true`,
});
/** Exported for a test. */
export const creatorStatements = {
	read: creatorBy('read the creator of links', ['', '']),
	lock: creatorBy('lock the creator of links', ['FOR KEY SHARE', 'FOR UPDATE']),
};

type Row = Omit<Creator, 'counts'> & {links: number | null; appLinks: number | null};

/**
 * Reads all that decides whether an organization may create links. With 'lock' no other transaction creates, removes or
 * renames one of its links until this one ends, so that its counts are exact. @throws 404 where it is gone.
 */
export const readCreator = async (
	db: Db,
	{organizationId, now}: {organizationId: string; now: Date},
	mode: keyof typeof creatorStatements,
): Promise<Creator> => {
	const month = `${now.toISOString().slice(0, 7)}-01`;
	const rows = await runPrepared<Row>(db, creatorStatements[mode], [organizationId, month]);
	const {links, appLinks, ...found} = required(rows[0], organizationNotFound);
	if (links !== null && appLinks !== null) {
		return {...found, counts: {links, appLinks}};
	}

	// Before the first link there is no count to lock.
	return {...found, counts: mode === 'lock' ? await lockLinkCount(db, organizationId) : {links: 0, appLinks: 0}};
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
export const requireRoom = (
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
