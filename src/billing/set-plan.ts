import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {type Db, inTransaction, onlyRow} from '../db/db.ts';
import {withLease} from '../db/lease.ts';
import {organizationNotFound, unknownPlan} from '../errors.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import {type Plans, planNamed} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {applySubscription} from './apply-subscription.ts';
import {createAttemptStore} from './attempt-store.ts';
import {billingLease} from './billing-lease.ts';
import {gatewayOfSubscription} from './gateways.ts';
import {closeSuperseded} from './new-attempt.ts';
import {isLive, type Subscription} from './subscription.ts';
import {createSubscriptionStore, type SubscriptionState, stateOf} from './subscription-store.ts';

/** Plans that need no subscription: the free one, and none (contract/admin 3). */
const needsSubscription = (plan: string | null): plan is string => plan !== null && plan !== 'STARTER';

/** The plan's name as it is stored. @throws 400 for what is no plan. */
export const requirePlanName = (plans: Plans, name: string | null): string | null => {
	const plan = name === null ? null : planNamed(plans, name);
	if (name !== null && plan === null) {
		throw unknownPlan(name);
	}

	return plan;
};

/** A subscription that nobody pays for and nothing renews (contract/admin 3). */
const setByOps = (plan: string, now: Date): Omit<SubscriptionState, 'gatewayCustomerId'> => ({
	plan,
	status: 'ACTIVE',
	gateway: 'MANUAL',
	gatewaySubscriptionId: null,
	currentPeriodStart: now,
	currentPeriodEnd: null,
	cancelAtPeriodEnd: false,
	scheduledPlan: null,
	pastDueAt: null,
	anchorAt: null,
});

/** The row as it ends. It keeps its ids, so that whatever the gateway tells of it later finds it ended. */
const ended = (row: Subscription): SubscriptionState => ({
	...stateOf(row),
	status: 'CANCELED',
	cancelAtPeriodEnd: false,
	scheduledPlan: null,
	pastDueAt: null,
});

type PlanSet = {organizationId: string; plan: string | null; by: Caller; now: Date};

/**
 * Sets a plan without checkout, in the caller's transaction (contract/admin 3): the organization's plan, and a
 * subscription of the gateway MANUAL, which nothing renews. A plan that needs none cancels the one that there was.
 * @throws 404.
 */
export const setPlan = async (trx: Db, {organizationId, plan, by, now}: PlanSet): Promise<Organization> => {
	const row = await createSubscriptionStore(trx).lockOf(organizationId);
	if (needsSubscription(plan)) {
		await applySubscription(trx, {organizationId, state: setByOps(plan, now), by, now, action: null});
	} else if (row !== null && isLive(row)) {
		await applySubscription(trx, {organizationId, state: ended(row), by, now, action: null});
	}

	const organization = await createOrganizationStore(trx).update(organizationId, {plan, entitledUntil: null}, now);
	if (organization === null) {
		throw organizationNotFound();
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

/**
 * As `setPlan`, for an organization that may pay for something: that ends at the gateway first, so that never two
 * sources tell what it is entitled to, and open checkouts are closed (contract/billing 9). What the gateway still tells
 * of the old subscription changes nothing then.
 * @throws 404; 502 where the gateway does not end it, which changes nothing here; 503.
 */
export const replacePlan = (services: Services, set: Omit<PlanSet, 'now'>): Promise<Organization> => {
	const {db, clock} = services;
	const {organizationId} = set;
	return withLease(services, billingLease(organizationId), async () => {
		const row = await createSubscriptionStore(db).findOf(organizationId);
		if (row !== null && isLive(row) && row.gatewaySubscriptionId !== null) {
			await gatewayOfSubscription(services, row)?.cancelNow(row);
		}

		const {organization, superseded} = await inTransaction(db, async (trx) => {
			const changed = await setPlan(trx, {...set, now: clock.now()});
			return {
				organization: changed,
				superseded: await createAttemptStore(trx).supersedeOpen(organizationId, null, clock.now()),
			};
		});
		closeSuperseded(services, superseded);
		return organization;
	});
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
