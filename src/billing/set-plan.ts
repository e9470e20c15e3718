import {randomUUID} from 'node:crypto';
import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {type Db, onlyRow} from '../db/db.ts';
import {organizationNotFound, unknownPlan} from '../errors.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import {type Plans, planNamed} from '../plans/plans.ts';

/** Plans that need no subscription: the free one, and none (decisions 10). */
const needsSubscription = (plan: string | null): plan is string => plan !== null && plan !== 'STARTER';

/** The plan's name as it is stored. @throws 400 for what is no plan. */
export const requirePlanName = (plans: Plans, name: string | null): string | null => {
	const plan = name === null ? null : planNamed(plans, name);
	if (name !== null && plan === null) {
		throw unknownPlan(name);
	}

	return plan;
};

/**
 * Sets a plan without checkout, in the caller's transaction (interface 4.7): the organization's plan, and a
 * subscription of the gateway MANUAL, which nothing renews. A plan that needs none cancels the one that ops had set.
 * @throws 404.
 */
export const setPlan = async (
	trx: Db,
	{organizationId, plan, by, now}: {organizationId: string; plan: string | null; by: Caller; now: Date},
): Promise<Organization> => {
	const store = createOrganizationStore(trx);
	const organization = await store.update(organizationId, {plan}, now);
	if (organization === null) {
		throw organizationNotFound();
	}

	if (needsSubscription(plan)) {
		await trx('subscriptions')
			.insert({
				id: randomUUID(),
				organization_id: organizationId,
				plan,
				status: 'ACTIVE',
				gateway: 'MANUAL',
				current_period_start: now,
				created_at: now,
				updated_at: now,
			})
			.onConflict('organization_id')
			.merge({
				plan,
				status: 'ACTIVE',
				gateway: 'MANUAL',
				gateway_subscription_id: null,
				current_period_start: now,
				current_period_end: null,
				cancel_at_period_end: false,
				scheduled_plan: null,
				updated_at: now,
			});
	} else {
		await trx('subscriptions')
			.where({organization_id: organizationId, gateway: 'MANUAL'})
			.update({status: 'CANCELED', scheduled_plan: null, cancel_at_period_end: false, updated_at: now});
	}

	await recordAudit(trx, now, by, {
		action: 'SET_PLAN',
		entityType: 'Organization',
		entityId: organizationId,
		organizationId,
		details: {plan},
	});
	return organization;
};

/** Whether the organization has a subscription that gives something: ACTIVE or PAST_DUE. */
export const hasLiveSubscription = async (db: Db, organizationId: string): Promise<boolean> => {
	const rows: Array<{live: boolean}> = await db.select(
		db.raw(
			`EXISTS (SELECT 1 FROM subscriptions WHERE organization_id = ? AND status IN ('ACTIVE', 'PAST_DUE')) AS live`,
			[organizationId],
		),
	);
	return onlyRow(rows).live;
};
