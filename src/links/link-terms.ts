import type {Db} from '../db/db.ts';
import {appConfigRequired, organizationNotFound, required} from '../errors.ts';
import {type PlanDeps, requirePlan, requireQuota} from '../plans/entitlements.ts';
import {countMonthClicks} from '../plans/month-clicks.ts';
import type {Plan} from '../plans/plans.ts';
import type {LinkOwner} from './link.ts';

/** An organization as a write of its links finds it; it stays until the transaction ends. */
export type LockedOwner = LinkOwner & {plan: string | null; entitledUntil: Date | null; hasAppConfig: boolean};

/** @throws 404 where the organization is gone. */
export const lockOwner = async (trx: Db, organizationId: string): Promise<LockedOwner> => {
	const {rows} = await trx.raw<{rows: LockedOwner[]}>(
		`SELECT id, org_key AS "orgKey", default_domain_id AS "defaultDomainId", plan, entitled_until AS "entitledUntil",
			EXISTS (SELECT FROM app_configs WHERE organization_id = organizations.id) AS "hasAppConfig"
		FROM organizations WHERE id = ?
		FOR KEY SHARE OF organizations`,
		[organizationId],
	);
	return required(rows[0], organizationNotFound);
};

/** The plan under which the owner may create links. @throws 402 without a plan, 428 without an app configuration. */
export const requireCreationTerms = (services: PlanDeps, owner: LockedOwner): Plan => {
	const plan = requirePlan(services, owner);
	if (!owner.hasAppConfig) {
		throw appConfigRequired();
	}

	return plan;
};

/** Over the click quota links resolve on, but are neither created nor changed (contract/links 9). @throws 402. */
export const requireClickQuota = async (trx: Db, owner: LinkOwner, plan: Plan, now: Date): Promise<void> => {
	if (plan.quotas.clicks !== null) {
		requireQuota(plan, 'clicks', await countMonthClicks(trx, owner.id, now));
	}
};
