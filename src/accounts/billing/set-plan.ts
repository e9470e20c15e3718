import {FREE_PLAN, type Plans, planNamed} from '../../platform/config/plans.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {withLease} from '../../platform/db/lease.ts';
import {organizationNotFound, required, unknownPlan} from '../../platform/errors.ts';
import {type Caller, organizationEntry, recordAudit} from '../audit/audit-log.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import {applySubscription, billingLease} from './apply-subscription.ts';
import {createAttemptStore} from './attempt-store.ts';
import {type BillingServices, gatewayOfSubscription} from './gateway.ts';
import {closeSuperseded} from './new-attempt.ts';
import {isLive} from './subscription.ts';
import {createSubscriptionStore, emptyState, endedState, type SubscriptionState} from './subscription-store.ts';

/** Plans that need no subscription: the free one, and none (contract/admin 3). */
const needsSubscription = (plan: string | null): plan is string => plan !== null && plan !== FREE_PLAN;

/** The plan's canonical name. @throws 400 for an unknown plan. */
export const requirePlanName = (plans: Plans, name: string | null): string | null => {
	const plan = name === null ? null : planNamed(plans, name);
	if (name !== null && plan === null) {
		throw unknownPlan(name);
	}

	return plan;
};

/** A subscription without payments and renewals (contract/admin 3). */
const setByOps = (plan: string, now: Date): Omit<SubscriptionState, 'gatewayCustomerId'> => ({
	...emptyState,
	plan,
	status: 'ACTIVE',
	gateway: 'MANUAL',
	currentPeriodStart: now,
});

type PlanSet = {organizationId: string; plan: string | null; by: Caller; now: Date};

/**
 * Sets a plan without checkout, in the caller's transaction (contract/admin 3), with a subscription of the gateway
 * MANUAL. A plan that needs no subscription cancels the present one.
 * @throws 404.
 */
export const setPlan = async (trx: Db, {organizationId, plan, by, now}: PlanSet): Promise<Organization> => {
	const row = await createSubscriptionStore(trx).lockOf(organizationId);
	if (needsSubscription(plan)) {
		await applySubscription(trx, {organizationId, state: setByOps(plan, now), by, now, action: null});
	} else if (row !== null && isLive(row)) {
		// Without its anchor no late payment of a renewal brings it back (`judge-payment.ts`).
		const state = {...endedState(row), anchorAt: null};
		await applySubscription(trx, {organizationId, state, by, now, action: null});
	}

	const organization = required(
		await createOrganizationStore(trx).update(organizationId, {plan, entitledUntil: null}, now),
		organizationNotFound,
	);
	await recordAudit(trx, now, by, organizationEntry('SET_PLAN', organizationId, {plan}));
	return organization;
};

/**
 * As `setPlan`, for an organization that may have a paid subscription: this ends at the gateway first, and all open
 * attempts are closed, a renewal's too (contract/billing 9). Later events of the old subscription change nothing.
 * @throws 400 for an unknown plan; 404; 502 if the gateway does not end it, which changes nothing here; 503.
 */
export const setOrganizationPlan = (
	services: Pick<BillingServices, 'config' | 'db' | 'clock' | 'gateways' | 'background'>,
	{organization, plan: name, by}: {organization: Organization; plan: string | null; by: Caller},
): Promise<Organization> => {
	const {config, db, clock} = services;
	const plan = requirePlanName(config.plans, name);
	const organizationId = organization.id;
	return withLease(services, billingLease(organizationId), async () => {
		const row = await createSubscriptionStore(db).findOf(organizationId);
		if (row !== null && isLive(row) && row.gatewaySubscriptionId !== null) {
			await gatewayOfSubscription(services, row)?.cancelNow(row);
		}

		const {changed, superseded} = await inTransaction(db, async (trx) => ({
			changed: await setPlan(trx, {organizationId, plan, by, now: clock.now()}),
			superseded: await createAttemptStore(trx).supersedeAll(organizationId, clock.now()),
		}));
		closeSuperseded(services, superseded);
		return changed;
	});
};

/** Whether the organization has an ACTIVE or PAST_DUE subscription. */
export const hasLiveSubscription = async (db: Db, organizationId: string): Promise<boolean> => {
	const row = await createSubscriptionStore(db).findOf(organizationId);
	return row !== null && isLive(row);
};
