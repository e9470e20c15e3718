import {randomUUID} from 'node:crypto';
import {type Db, onlyRow, translateViolation} from '../db/db.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';
import {organizationNameTaken} from '../errors.ts';
import {isUuid} from '../uuid.ts';
import {generateOrgKey} from './org-key.ts';

export type OrganizationStatus = 'ACTIVE' | 'SUSPENDED';
export type Organization = {
	id: string;
	/** The identity provider's id; null for one that an operator made. */
	clerkOrgId: string | null;
	orgKey: string;
	name: string;
	status: OrganizationStatus;
	plan: string | null;
	/** Until when the plan entitles; null: without an end (`billing/subscription.ts`). */
	entitledUntil: Date | null;
	contactEmail: string | null;
	defaultDomainId: string | null;
	createdAt: Date;
};

export type OrganizationRow = {
	id: string;
	clerk_org_id: string | null;
	org_key: string;
	name: string;
	status: OrganizationStatus;
	plan: string | null;
	entitled_until: Date | null;
	contact_email: string | null;
	default_domain_id: string | null;
	created_at: Date;
};

export const toOrganization = (row: OrganizationRow): Organization => ({
	id: row.id,
	clerkOrgId: row.clerk_org_id,
	orgKey: row.org_key,
	name: row.name,
	status: row.status,
	plan: row.plan,
	entitledUntil: row.entitled_until,
	contactEmail: row.contact_email,
	defaultDomainId: row.default_domain_id,
	createdAt: row.created_at,
});

/** An organization as the API shows it (contract/portal 1). */
export const organizationJson = (organization: Organization) => ({
	id: organization.id,
	orgKey: organization.orgKey,
	name: organization.name,
	status: organization.status,
	plan: organization.plan,
	contactEmail: organization.contactEmail,
	createdAt: organization.createdAt,
});

export type OrganizationChanges = {
	name?: string;
	contactEmail?: string | null;
	status?: OrganizationStatus;
	plan?: string | null;
	entitledUntil?: Date | null;
	defaultDomainId?: string | null;
};

const toColumns = (changes: OrganizationChanges): Record<string, unknown> => ({
	...(changes.name === undefined ? {} : {name: changes.name}),
	...(changes.contactEmail === undefined ? {} : {contact_email: changes.contactEmail}),
	...(changes.status === undefined ? {} : {status: changes.status}),
	...(changes.plan === undefined ? {} : {plan: changes.plan}),
	...(changes.entitledUntil === undefined ? {} : {entitled_until: changes.entitledUntil}),
	...(changes.defaultDomainId === undefined ? {} : {default_domain_id: changes.defaultDomainId}),
});

/** The statements on organizations, over a pool or a transaction. */
export const createOrganizationStore = (db: Db) => {
	const first = async (where: Record<string, unknown>): Promise<Organization | null> => {
		const [row] = (await db('organizations').where(where).limit(1)) as OrganizationRow[];
		return row === undefined ? null : toOrganization(row);
	};

	return {
		findById: (id: string) => first({id}),

		/** As `findById`; its own columns stay what they are until the transaction ends. */
		lock: async (id: string): Promise<Organization | null> => {
			const [row] = (await db('organizations').where({id}).forNoKeyUpdate()) as OrganizationRow[];
			return row === undefined ? null : toOrganization(row);
		},

		findByOrgKey: (orgKey: string) => first({org_key: orgKey}),

		/** By what an operator calls it: the UUID or the orgKey (contract/admin 1). */
		findByReference: (reference: string): Promise<Organization | null> =>
			isUuid(reference) ? first({id: reference}) : first({org_key: reference}),

		/**
		 * A new, active organization with an orgKey of its own.
		 * @param mirrored columns of what is mirrored from the identity provider.
		 * @throws 409 where the name is in use (without case).
		 */
		insert: async (
			organization: {name: string; contactEmail: string | null},
			now: Date,
			mirrored: Record<string, unknown> = {},
		): Promise<Organization> => {
			for (;;) {
				const rows: OrganizationRow[] = await db('organizations')
					.insert({
						id: randomUUID(),
						org_key: generateOrgKey(),
						name: organization.name,
						contact_email: organization.contactEmail,
						created_at: now,
						updated_at: now,
						...mirrored,
					})
					.onConflict('org_key')
					.ignore()
					.returning('*')
					.catch((error: unknown) => {
						throw translateViolation(error, {organizations_name_key: () => organizationNameTaken(organization.name)});
					});
				// No row: another organization has that orgKey, or had it and was deleted, so the next one is tried.
				if (rows.length > 0) {
					return toOrganization(onlyRow(rows));
				}
			}
		},

		/** The changed organization, or null without one. @throws 409 where the name is in use. */
		update: async (id: string, changes: OrganizationChanges, now: Date): Promise<Organization | null> => {
			const [row] = (await db('organizations')
				.where({id})
				.update({
					...toColumns(changes),
					updated_at: now,
					// A name that is given here is one of its own, even where the provider's was in use here already.
					...(changes.name === undefined
						? {}
						: {shares_name: db.raw('shares_name AND lower(name) = lower(?)', [changes.name])}),
				})
				.returning('*')
				.catch((error: unknown) => {
					throw translateViolation(error, {organizations_name_key: () => organizationNameTaken(changes.name ?? '')});
				})) as OrganizationRow[];
			return row === undefined ? null : toOrganization(row);
		},

		/** Keeps what an organization is called at the provider since our own call, so that its event is no news. */
		noteProviderName: async (id: string, {name, updatedAt}: {name: string; updatedAt: Date}): Promise<void> => {
			await db('organizations')
				.where({id})
				.where((known) => known.whereNull('provider_updated_at').orWhere('provider_updated_at', '<=', updatedAt))
				.update({provider_name: name, provider_updated_at: updatedAt});
		},

		/** Removes the organization and, by the constraints, all that is its own. @returns whether there was one. */
		remove: async (id: string): Promise<boolean> => (await db('organizations').where({id}).delete()) > 0,

		list: async ({page, limit, q}: PageQuery & {q?: string}): Promise<Page<Organization>> => {
			const all = db('organizations').modify((query) => {
				if (q !== undefined) {
					query.where((either) => either.whereRaw('strpos(lower(name), lower(?)) > 0', [q]).orWhere({org_key: q}));
				}
			});
			return readPage(all, {page, limit}, 'created_at DESC, id DESC', toOrganization);
		},
	};
};
