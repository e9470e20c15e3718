import {type Caller, recordAudit} from '../../accounts/audit/audit-log.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {linkNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {createLinkStore, lockLinkCount, moveLinkCount} from './link-store.ts';
import {lockOwner} from './link-terms.ts';

/** Removes a link for good; it counts against no quota any more. @throws 404. */
export const deleteLink = (
	services: Pick<Services, 'clock' | 'db'>,
	{organization, by, id}: {organization: {id: string}; by: Caller; id: string},
): Promise<{id: string; deleted: true}> =>
	inTransaction(services.db, async (trx) => {
		await lockOwner(trx, organization.id);
		await lockLinkCount(trx, organization.id);
		const removed = required(await createLinkStore(trx, organization.id).remove(id), linkNotFound);
		await moveLinkCount(trx, organization.id, {links: -1, appLinks: removed.isByApp ? -1 : 0});
		await recordAudit(trx, services.clock.now(), by, {
			action: 'DELETE',
			entityType: 'Link',
			entityId: removed.id,
			organizationId: organization.id,
			details: {shortCode: removed.short_code, path: removed.path, title: removed.title},
		});
		return {id: removed.id, deleted: true};
	});
