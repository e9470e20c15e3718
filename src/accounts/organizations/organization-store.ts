import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, translateViolation} from '../../platform/db/db.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {identifier, joined, run, sql} from '../../platform/db/sql.ts';
import {organizationNameTaken} from '../../platform/errors.ts';
import {isUuid} from '../../platform/text.ts';
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
	/** End of the entitlement by the plan; null: without an end (`billing/subscription.ts`). */
	entitledUntil: Date | null;
	contactEmail: string | null;
	defaultDomainId: string | null;
	createdAt: Date;
};

/** The organizations with an object of this id, a domain of this host name or a key of this prefix. */
const ownersOf = (name: string) => {
	const id = isUuid(name) ? name : null;
	return sql`SELECT organization_id FROM webhook_endpoints WHERE id = ${id}
		UNION ALL SELECT organization_id FROM templates WHERE id = ${id}
		UNION ALL SELECT organization_id FROM channels WHERE id = ${id}
		UNION ALL SELECT organization_id FROM api_keys WHERE id = ${id} OR prefix = ${name}
		UNION ALL SELECT organization_id FROM domains WHERE id = ${id} OR hostname = lower(${name})`;
};

export const organizationColumns: Columns<Organization> = columnsOf(
	'id, clerk_org_id, org_key, name, status, plan, entitled_until, contact_email, default_domain_id, created_at',
);

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

export type OrganizationChanges = Partial<
	Pick<Organization, 'name' | 'contactEmail' | 'status' | 'plan' | 'entitledUntil' | 'defaultDomainId'>
>;

/** The changed organization, or null without one. @throws 409 if the name is in use. */
const updateOrganization = async (
	db: Db,
	id: string,
	changes: OrganizationChanges,
	now: Date,
): Promise<Organization | null> => {
	const {name} = changes;
	const assignments = Object.entries(toColumns({...changes, updatedAt: now})).map(
		([column, value]) => sql`${identifier(column)} = ${value}`,
	);
	if (name !== undefined) {
		// A name that is given here is one of its own, even if another organization already had the provider's.
		assignments.push(sql`shares_name = (shares_name AND lower(name) = lower(${name}))`);
	}

	const [changed] = await run<Organization>(
		db,
		sql`UPDATE organizations SET ${joined(assignments)} WHERE id = ${id}
		RETURNING ${organizationColumns.of('organizations')}`,
	).catch((error: unknown) => {
		throw translateViolation(error, {organizations_name_key: () => organizationNameTaken(name ?? '')});
	});
	return changed ?? null;
};

type OrganizationQuery = PageQuery & {q?: string; owns?: string};

const listOrganizations = (db: Db, {q, owns, ...page}: OrganizationQuery): Promise<Page<Organization>> => {
	const conditions = [
		q === undefined ? null : sql`(strpos(lower(name), lower(${q})) > 0 OR org_key = ${q})`,
		owns === undefined ? null : sql`id IN (${ownersOf(owns)})`,
	].filter((condition) => condition !== null);
	return readSqlPage(
		db,
		{
			columns: organizationColumns.of('organizations'),
			from: sql`organizations WHERE ${joined([sql`true`, ...conditions], ' AND ')}`,
			order: sql`created_at DESC, id DESC`,
		},
		page,
	);
};

/** The statements on organizations, over a pool or a transaction. */
export const createOrganizationStore = (db: Db) => {
	const first = async (where: Record<string, unknown>): Promise<Organization | null> =>
		(await db('organizations').where(where).first(organizationColumns.list)) ?? null;

	return {
		findById: (id: string) => first({id}),

		/** As `findById`; its own columns do not change until the transaction ends. */
		lock: async (id: string): Promise<Organization | null> =>
			(await db('organizations').where({id}).forNoKeyUpdate().first(organizationColumns.list)) ?? null,

		/** By its UUID or its orgKey (contract/admin 1). */
		findByReference: (reference: string): Promise<Organization | null> =>
			isUuid(reference) ? first({id: reference}) : first({org_key: reference}),

		/**
		 * A new, active organization with an orgKey of its own.
		 * @param mirrored columns that mirror the identity provider's record.
		 * @throws 409 if the name is in use (without case).
		 */
		insert: async (
			organization: {name: string; contactEmail: string | null},
			now: Date,
			mirrored: Record<string, unknown> = {},
		): Promise<Organization> => {
			for (;;) {
				const [inserted]: Organization[] = await db('organizations')
					.insert({
						...toColumns({...organization, id: randomUUID(), orgKey: generateOrgKey(), createdAt: now, updatedAt: now}),
						...mirrored,
					})
					.onConflict('org_key')
					.ignore()
					.returning(organizationColumns.list)
					.catch((error: unknown) => {
						throw translateViolation(error, {organizations_name_key: () => organizationNameTaken(organization.name)});
					});
				// No row: another organization has that orgKey, or had it and was deleted, so another one is generated.
				if (inserted !== undefined) {
					return inserted;
				}
			}
		},

		update: (id: string, changes: OrganizationChanges, now: Date) => updateOrganization(db, id, changes, now),

		/** Stores the name that our own call has set at the provider: the event of that call then changes nothing. */
		noteProviderName: async (id: string, {name, updatedAt}: {name: string; updatedAt: Date}): Promise<void> => {
			await db('organizations')
				.where({id})
				.where((known) => known.whereNull('provider_updated_at').orWhere('provider_updated_at', '<=', updatedAt))
				.update({provider_name: name, provider_updated_at: updatedAt});
		},

		/** Removes the organization and, by the constraints, all that is its own. @returns whether there was one. */
		remove: async (id: string): Promise<boolean> => (await db('organizations').where({id}).delete()) > 0,

		list: (query: OrganizationQuery) => listOrganizations(db, query),
	};
};
