import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, inTransaction, violatedConstraint} from '../../platform/db/db.ts';
import {execute, run, sql} from '../../platform/db/sql.ts';
import {createOrganizationStore, type Organization, organizationColumns} from '../organizations/organization-store.ts';
import type {ProviderOrganization} from './provider-payloads.ts';

type ProviderRecord = {
	providerName: string | null;
	/** Null if the organization is known from a membership alone. */
	providerUpdatedAt: Date | null;
	/** Whether another organization has the same name. */
	sharesName: boolean;
};

/** A mirrored organization with the provider's record of it, as far as it is known. */
export type MirroredOrganization = Organization & ProviderRecord;

const recordColumns: Columns<ProviderRecord> = columnsOf('provider_name, provider_updated_at, shares_name');

type NewState = Pick<Organization, 'status'> & {providerUpdatedAt: Date | null; mayShareName: boolean};

/** Writes a name as one of its own in a savepoint, which leaves the transaction as it was; else as a shared one. */
const withName = async <T>(trx: Db, write: (db: Db, sharesName: boolean) => Promise<T>): Promise<T> =>
	inTransaction(trx, (savepoint) => write(savepoint, false)).catch((error: unknown) => {
		// The store translates the violation into a 409.
		if (violatedConstraint(error) !== 'organizations_name_key' && (error as {status?: unknown}).status !== 409) {
			throw error;
		}

		return write(trx, true);
	});

/** @throws 409 if the name is in use, unless it may be shared. */
const insert = (
	trx: Db,
	organization: ProviderOrganization,
	{status, providerUpdatedAt, mayShareName}: NewState,
	now: Date,
): Promise<Organization> => {
	const insertWith = (db: Db, sharesName: boolean) =>
		createOrganizationStore(db).insert({name: organization.name, contactEmail: null}, now, {
			clerk_org_id: organization.id,
			status,
			provider_name: organization.name,
			provider_updated_at: providerUpdatedAt,
			shares_name: sharesName,
		});
	return mayShareName ? withName(trx, insertWith) : insertWith(trx, false);
};

/** The statements that mirror organizations, in a transaction of the mirror. Ids named `clerk…` are the provider's. */
export const createOrganizationMirrorStore = (trx: Db) => {
	return {
		/** The row stays as it is until the transaction ends. */
		lock: async (clerkOrgId: string): Promise<MirroredOrganization | null> =>
			(await trx('organizations')
				.where({clerk_org_id: clerkOrgId})
				.forNoKeyUpdate()
				.first([...organizationColumns.list, ...recordColumns.list])) ?? null,

		insert: (organization: ProviderOrganization, state: NewState, now: Date) => insert(trx, organization, state, now),

		/** Stores the provider's name, even if another organization has it. */
		rename: (id: string, name: string, now: Date) =>
			withName(trx, (db, sharesName) =>
				db('organizations').where({id}).update({name, provider_name: name, shares_name: sharesName, updated_at: now}),
			),

		setProviderUpdatedAt: async (id: string, at: Date): Promise<void> => {
			await trx('organizations').where({id}).update({provider_updated_at: at});
		},

		addOwner: async (
			id: string,
			{clerkUserId, email, since}: {clerkUserId: string; email: string | null; since: Date},
		): Promise<void> => {
			// The earliest stay counts, with its address: the result does not depend on the order of events.
			await execute(
				trx,
				sql`INSERT INTO organization_owners (organization_id, clerk_user_id, email, since)
				VALUES (${id}, ${clerkUserId}, ${email}, ${since})
				ON CONFLICT (organization_id, clerk_user_id) DO UPDATE SET
					email = CASE WHEN organization_owners.email IS NULL OR (excluded.email IS NOT NULL
							AND excluded.since < organization_owners.since)
						THEN excluded.email ELSE organization_owners.email END,
					since = least(organization_owners.since, excluded.since)`,
			);
		},

		/** The organizations that a user joined as an owner. */
		ownedBy: (clerkUserId: string): Promise<string[]> =>
			trx('organization_owners')
				.where({clerk_user_id: clerkUserId})
				.orderBy('organization_id')
				.pluck('organization_id'),

		/**
		 * Makes the first owner with an address the contact, unless the contact was set or cleared here.
		 * @returns the new contact, or null where nothing changed.
		 */
		fillContact: async (id: string, now: Date): Promise<string | null> => {
			const [changed] = await run<{email: string}>(
				trx,
				sql`WITH first AS (
					SELECT coalesce(organization_owners.email, users.email) AS email FROM organization_owners
					LEFT JOIN users USING (clerk_user_id)
					WHERE organization_id = ${id} AND coalesce(organization_owners.email, users.email) IS NOT NULL
					ORDER BY since, clerk_user_id LIMIT 1
				)
				UPDATE organizations SET contact_email = first.email, mirrored_contact_email = first.email, updated_at = ${now}
				FROM first
				WHERE id = ${id} AND contact_email IS NOT DISTINCT FROM mirrored_contact_email
					AND contact_email IS DISTINCT FROM first.email
				RETURNING contact_email AS email`,
			);
			return changed?.email ?? null;
		},

		remove: createOrganizationStore(trx).remove,
	};
};
