import {FREE_PLAN} from '../../platform/config/plans.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {billingFlowRequired, organizationNotFound, planAlreadySelected, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {type Caller, organizationEntry, recordAudit} from '../audit/audit-log.ts';
import {requirePlanName} from '../billing/set-plan.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import {type PlanDeps, planOf} from '../plans/entitlements.ts';

/**
 * Selects the free plan for an organization without a plan.
 * @throws 400 for an unknown plan, 409 if a plan is selected, 422 USE_BILLING_FLOW for a paid plan.
 */
export const selectPlan = (
	services: PlanDeps & Pick<Services, 'db'>,
	{organization: {id}, by, plan: name}: {organization: {id: string}; by: Caller; plan: string},
): Promise<Organization> => {
	const plan = requirePlanName(services.config.plans, name);
	return inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		const store = createOrganizationStore(trx);
		const organization = required(await store.lock(id), organizationNotFound);
		if (planOf(services, organization) !== null) {
			throw planAlreadySelected();
		}

		if (plan !== FREE_PLAN) {
			throw billingFlowRequired(plan ?? name);
		}

		await recordAudit(trx, now, by, organizationEntry('SELECT_PLAN', id, {plan}));
		return (await store.update(id, {plan}, now)) ?? organization;
	});
};
