import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {hasLiveSubscription, requirePlanName, setPlan} from '../billing/set-plan.ts';
import {seedChannels} from '../channels/channel-store.ts';
import {inTransaction} from '../db/db.ts';
import {organizationHasSubscription, organizationNotFound} from '../errors.ts';
import type {Services} from '../services.ts';
import {
	createOrganizationStore,
	type Organization,
	type OrganizationChanges,
	type OrganizationStatus,
} from './organization-store.ts';

type NewOrganization = {name: string; contactEmail?: string | null; plan?: string | null};

/** A new organization with its channels and, where one is named, a plan as ops would set it. @throws 400, 409. */
export const createOrganization = (services: Services, {fields, by}: {fields: NewOrganization; by: Caller}) => {
	const plan = requirePlanName(services.config.plans, fields.plan ?? null);
	return inTransaction(services.db, async (trx): Promise<Organization> => {
		const now = services.clock.now();
		const organization = await createOrganizationStore(trx).insert(
			{name: fields.name, contactEmail: fields.contactEmail ?? null},
			now,
		);
		await seedChannels(trx, organization.id, now);
		await recordAudit(trx, now, by, {
			action: 'CREATE',
			entityType: 'Organization',
			entityId: organization.id,
			organizationId: organization.id,
			details: {name: organization.name},
		});
		return plan === null ? organization : setPlan(trx, {organizationId: organization.id, plan, by, now});
	});
};

type Target = {organization: Organization; by: Caller};

const change = (services: Services, {organization, by}: Target, action: string, changes: OrganizationChanges) =>
	inTransaction(services.db, async (trx): Promise<Organization> => {
		const now = services.clock.now();
		const changed = await createOrganizationStore(trx).update(organization.id, changes, now);
		if (changed === null) {
			throw organizationNotFound();
		}

		await recordAudit(trx, now, by, {
			action,
			entityType: 'Organization',
			entityId: organization.id,
			organizationId: organization.id,
			details: changes,
		});
		return changed;
	});

/** Changes name or contact; nothing where nothing is named. @throws 409 where the name is in use. */
export const updateOrganization = (
	services: Services,
	target: Target & {changes: {name?: string; contactEmail?: string | null}},
): Promise<Organization> =>
	Object.keys(target.changes).length === 0
		? Promise.resolve(target.organization)
		: change(services, target, 'UPDATE', target.changes);

/** Suspends or activates. A repetition changes nothing and is no error. */
export const setOrganizationStatus = (
	services: Services,
	target: Target,
	status: OrganizationStatus,
): Promise<Organization> =>
	target.organization.status === status
		? Promise.resolve(target.organization)
		: change(services, target, status === 'ACTIVE' ? 'ACTIVATE' : 'SUSPEND', {status});

/** Sets the plan as ops would. @throws 400 for an unknown plan. */
export const setOrganizationPlan = (
	services: Services,
	{organization, by, plan: name}: Target & {plan: string | null},
) => {
	const plan = requirePlanName(services.config.plans, name);
	return inTransaction(services.db, (trx) =>
		setPlan(trx, {organizationId: organization.id, plan, by, now: services.clock.now()}),
	);
};

/**
 * Removes the organization with all that is its own, clicks included; only its audit records stay.
 * @throws 409 with an active subscription.
 */
export const deleteOrganization = (services: Services, {organization, by}: Target) =>
	inTransaction(services.db, async (trx) => {
		// The lock keeps an activation that arrives meanwhile from paying for what is gone.
		await trx('organizations').where({id: organization.id}).forUpdate().select('id');
		if (await hasLiveSubscription(trx, organization.id)) {
			throw organizationHasSubscription();
		}

		await trx('links').where({organization_id: organization.id}).delete();
		await trx('clicks').where({organization_id: organization.id}).delete();
		if (!(await createOrganizationStore(trx).remove(organization.id))) {
			throw organizationNotFound();
		}

		await recordAudit(trx, services.clock.now(), by, {
			action: 'DELETE',
			entityType: 'Organization',
			entityId: organization.id,
			organizationId: organization.id,
			details: {name: organization.name, orgKey: organization.orgKey},
		});
		return {id: organization.id, deleted: true};
	});
