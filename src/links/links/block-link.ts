import {type Caller, recordAudit} from '../../accounts/audit/audit-log.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {linkNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {LinkOwner} from './link.ts';
import type {ReferenceDeps} from './link-references.ts';
import type {Decision} from './link-safety.ts';
import {createLinkStore} from './link-store.ts';
import {getLink, type LinkJsonWithDomain} from './read-links.ts';

/**
 * Records an operator's decision on a link: it is blocked, or no list acts on it. Repeating a decision changes nothing.
 * @throws 404.
 */
export const decideOnLink = async (
	services: ReferenceDeps & Pick<Services, 'addresses' | 'db'>,
	{
		organization,
		by,
		id,
		state,
		reason,
	}: {organization: LinkOwner; by: Caller; id: string; state: Decision['state']; reason: string | null},
): Promise<LinkJsonWithDomain> => {
	await inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		const link = required(await createLinkStore(trx, organization.id).lock(id), linkNotFound);
		if (link.decision?.state === state && link.decision.reason === reason) {
			return;
		}

		const decision: Decision = {state, reason, since: now.toISOString()};
		await trx('links')
			.where({organization_id: organization.id, id})
			.update({decision: JSON.stringify(decision)});
		await recordAudit(trx, now, by, {
			action: state === 'block' ? 'BLOCK' : 'UNBLOCK',
			entityType: 'Link',
			entityId: id,
			organizationId: organization.id,
			details: {shortCode: link.short_code, ...(reason === null ? {} : {reason})},
		});
	});
	return getLink(services, {organization, id});
};
