import type {Db} from '../../platform/db/db.ts';
import {execute, run, sql} from '../../platform/db/sql.ts';
import type {EndedMembership, ProviderMembership} from './provider-payloads.ts';

/** The statements on deletions by the provider. Ids are the provider's. */
export const createTombstoneStore = (trx: Db) => {
	const isThere = async (kind: 'organization' | 'discarded', id: string): Promise<boolean> =>
		(await trx('identity_tombstones').where({kind, provider_id: id}).select('kind')).length > 0;

	const add = async (kind: 'organization' | 'discarded', id: string, now: Date): Promise<void> => {
		await trx('identity_tombstones').insert({kind, provider_id: id, deleted_at: now}).onConflict().ignore();
	};

	return {
		isOrganizationDeleted: (id: string) => isThere('organization', id),
		isOrganizationDiscarded: (id: string) => isThere('discarded', id),
		addOrganization: (id: string, now: Date) => add('organization', id, now),
		addDiscarded: (id: string, now: Date) => add('discarded', id, now),

		addMembership: async ({id, organizationId, userId, createdAt}: EndedMembership, now: Date): Promise<void> => {
			await execute(
				trx,
				sql`INSERT INTO identity_tombstones (kind, provider_id, clerk_org_id, clerk_user_id, provider_created_at, deleted_at)
				VALUES ('membership', ${id}, ${organizationId}, ${userId}, ${createdAt}, ${now})
				ON CONFLICT (kind, provider_id) DO UPDATE
				SET provider_created_at = greatest(identity_tombstones.provider_created_at, excluded.provider_created_at)`,
			);
		},

		/**
		 * Whether a membership has ended: it was deleted, or a later one of the same person there was deleted, because
		 * a user has at most one at a time. Another id, or a later creation than the deleted one's, makes it a new one.
		 */
		hasMembershipEnded: async ({id, organizationId, userId, createdAt}: ProviderMembership): Promise<boolean> => {
			const rows = await run(
				trx,
				sql`SELECT 1 FROM identity_tombstones WHERE kind = 'membership' AND (
					(provider_id = ${id} AND (provider_created_at IS NULL OR provider_created_at >= ${createdAt}))
					OR (clerk_org_id = ${organizationId} AND clerk_user_id = ${userId}
						AND ${createdAt}::timestamptz > 'epoch' AND provider_created_at > ${createdAt})
				) LIMIT 1`,
			);
			return rows.length > 0;
		},
	};
};
