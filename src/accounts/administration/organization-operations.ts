import {type Db, inTransaction} from '../../platform/db/db.ts';
import {withLease} from '../../platform/db/lease.ts';
import {execute} from '../../platform/db/sql.ts';
import {organizationHasSubscription, organizationNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {type Caller, organizationEntry, recordAudit} from '../audit/audit-log.ts';
import {type BillingAttempt, createAttemptStore} from '../billing/attempt-store.ts';
import {closeSuperseded} from '../billing/new-attempt.ts';
import {hasLiveSubscription, requirePlanName, setPlan} from '../billing/set-plan.ts';
import {createTombstoneStore} from '../identity/tombstone-store.ts';
import {confirmDeletion} from '../identity/unanswered.ts';
import type {OrganizationFields} from '../organizations/organization-schemas.ts';
import {
	createOrganizationStore,
	type Organization,
	type OrganizationChanges,
	type OrganizationStatus,
} from '../organizations/organization-store.ts';
import {seedChannels} from '../organizations/seed-channels.ts';

/**
 * Deletes an organization at the identity provider; succeeds if it is already gone. Without the provider's key it is
 * deleted here only.
 * @throws 403, 502.
 */
const deleteAtProvider = async (
	{provider, config}: Pick<Services, 'provider' | 'config'>,
	clerkOrgId: string,
): Promise<void> => {
	if (config.idp.apiKey !== null) {
		await confirmDeletion(
			provider.deleteOrganization(clerkOrgId),
			async () => (await provider.getOrganization(clerkOrgId)) === null,
		);
	}
};

/**
 * Copies an organization's name to the provider, for its pages and e-mails. Serialized, and with the current name, so
 * that the later of two changes wins.
 */
const renameAtProvider = async (
	services: Pick<Services, 'clock' | 'config' | 'db' | 'provider'>,
	{id, clerkOrgId}: Organization,
): Promise<void> => {
	const {db, provider, config} = services;
	if (clerkOrgId === null || config.idp.apiKey === null) {
		return;
	}

	await withLease(services, `organization-name:${id}`, async () => {
		const store = createOrganizationStore(db);
		const organization = await store.findById(id);
		const updated = organization && (await provider.updateOrganization(clerkOrgId, {name: organization.name}));
		if (updated !== null) {
			await store.noteProviderName(id, updated);
		}
	});
};

type NewOrganization = {name: string; contactEmail?: string | null; plan?: string | null};

/** Creates an organization with its channels and, if named, a plan as set by ops. @throws 400, 409. */
export const createOrganization = (
	services: Pick<Services, 'clock' | 'config' | 'db'>,
	{fields, by}: {fields: NewOrganization; by: Caller},
) => {
	const plan = requirePlanName(services.config.plans, fields.plan ?? null);
	return inTransaction(services.db, async (trx): Promise<Organization> => {
		const now = services.clock.now();
		const organization = await createOrganizationStore(trx).insert(
			{name: fields.name, contactEmail: fields.contactEmail ?? null},
			now,
		);
		await seedChannels(trx, organization.id, now);
		await recordAudit(trx, now, by, organizationEntry('CREATE', organization.id, {name: organization.name}));
		return plan === null ? organization : setPlan(trx, {organizationId: organization.id, plan, by, now});
	});
};

type Target = {organization: Organization; by: Caller};

const change = (
	services: Pick<Services, 'clock' | 'db'>,
	{organization, by}: Target,
	action: string,
	changes: OrganizationChanges,
) =>
	inTransaction(services.db, async (trx): Promise<Organization> => {
		const now = services.clock.now();
		const changed = required(
			await createOrganizationStore(trx).update(organization.id, changes, now),
			organizationNotFound,
		);
		await recordAudit(trx, now, by, organizationEntry(action, organization.id, changes));
		return changed;
	});

/**
 * Changes the given name or contact. A new name is sent to the identity provider; a failure there is ignored.
 * @throws 409 if the name is in use.
 */
export const updateOrganization = async (
	services: Pick<Services, 'background' | 'clock' | 'config' | 'db' | 'provider'>,
	target: Target & {changes: OrganizationFields},
): Promise<Organization> => {
	const {organization, changes} = target;
	if (Object.keys(changes).length === 0) {
		return organization;
	}

	const changed = await change(services, target, 'UPDATE', changes);
	if (changed.name !== organization.name) {
		services.background.run('send a new name to the identity provider', renameAtProvider(services, changed));
	}

	return changed;
};

/**
 * Suspends or activates. Repeating it changes nothing. The subscription of a suspended organization is left to the
 * billing job, which lets it end with its period.
 */
export const setOrganizationStatus = (
	services: Pick<Services, 'clock' | 'db'>,
	target: Target,
	status: OrganizationStatus,
): Promise<Organization> =>
	target.organization.status === status
		? Promise.resolve(target.organization)
		: change(services, target, status === 'ACTIVE' ? 'ACTIVATE' : 'SUSPEND', {status});

/** The removal, in the caller's transaction. @returns the checkouts to close. */
const removeOrganization = async (
	services: Pick<Services, 'clicks' | 'clock' | 'config' | 'provider'>,
	trx: Db,
	{organization, by}: Target,
): Promise<BillingAttempt[]> => {
	const {id, clerkOrgId} = organization;
	const store = createOrganizationStore(trx);
	// The lock keeps a concurrent activation from paying for a deleted organization.
	await store.lock(id);
	if (await hasLiveSubscription(trx, id)) {
		throw organizationHasSubscription();
	}

	if (clerkOrgId !== null) {
		await deleteAtProvider(services, clerkOrgId);
		await createTombstoneStore(trx).addDiscarded(clerkOrgId, services.clock.now());
	}

	const checkouts = await createAttemptStore(trx).supersedeOpen(id, null, services.clock.now());
	// Locked late, because visitors of its links wait for this lock and must not wait for the provider.
	await trx('organizations').where({id}).forUpdate().select('id');
	await trx('links').where({organization_id: id}).delete();
	await execute(trx, services.clicks.statements.removeOrganization(id));
	if (!(await store.remove(id))) {
		throw organizationNotFound();
	}

	const {name, orgKey} = organization;
	await recordAudit(trx, services.clock.now(), by, organizationEntry('DELETE', id, {name, orgKey}));
	return checkouts;
};

/**
 * Deletes the organization at the identity provider, and here with all its data including clicks; only its audit
 * records stay. No later event restores it, and its open checkouts are closed.
 * @throws 409 with an active subscription; 502 if the provider does not delete it, which changes nothing here.
 */
export const deleteOrganization = async (
	services: Pick<Services, 'background' | 'clicks' | 'clock' | 'config' | 'db' | 'gateways' | 'provider'>,
	target: Target,
) => {
	const checkouts = await inTransaction(services.db, (trx) => removeOrganization(services, trx, target));
	closeSuperseded(services, checkouts);
	services.background.run('delete the clicks of an organization', services.clicks.applyChanges());
	return {id: target.organization.id, deleted: true};
};
