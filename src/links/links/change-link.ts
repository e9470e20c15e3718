import {type Caller, recordAudit} from '../../accounts/audit/audit-log.ts';
import {requirePlan} from '../../accounts/plans/entitlements.ts';
import {type Db, inTransaction, translateViolation} from '../../platform/db/db.ts';
import {linkNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {linkViolations} from './create-link.ts';
import {
	changeDetails,
	changedColumns,
	type LinkInput,
	type LinkJson,
	type LinkOwner,
	type LinkRow,
	linkJson,
} from './link.ts';
import {type ReferenceDeps, readReferences} from './link-references.ts';
import type {Decision} from './link-safety.ts';
import {createLinkStore, lockLinkCount, moveLinkCount} from './link-store.ts';
import {lockOwner, requireClickQuota} from './link-terms.ts';
import {linkEntry} from './link-writer.ts';
import {getLink, type LinkJsonWithDomain} from './read-links.ts';

/**
 * Changes a link. If no value differs, nothing is written, not even `updatedAt`.
 * @throws 402 without a plan or over the click quota, 404 for an unknown link and for a foreign domain or template,
 * 400 for an unknown channel or a missing path, 409 for a taken short code or external id.
 */
export const updateLink = async (
	services: ReferenceDeps & Pick<Services, 'addresses' | 'clickJournal' | 'db'>,
	{organization, by, id, changes}: {organization: {id: string}; by: Caller; id: string; changes: LinkInput},
): Promise<LinkJson> => {
	await services.clickJournal.flushed({containing: [organization.id]});
	return inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		const store = createLinkStore(trx, organization.id);
		const owner = await lockOwner(trx, organization.id);
		await requireClickQuota(trx, owner, requirePlan(services, owner), now);
		const found = required(await store.find(id), linkNotFound);
		// Names are given under the lock of the count, and locks are taken in one order: count, references, links.
		if (changes.shortCode !== undefined || changes.externalId !== undefined) {
			await lockLinkCount(trx, owner.id);
		}

		const references = await readReferences(services, trx, owner, {links: [found], inputs: [changes], lock: 'share'});
		const before = required(await store.lock(id), linkNotFound);
		const after = references.apply(before, changes);
		const columns = changedColumns(before, after);
		if (columns.length === 0) {
			return linkJson(services.addresses, owner, references.view(before));
		}

		const link = {...after, updated_at: now};
		await store.update([link]).catch((error: unknown) => {
			throw translateViolation(error, linkViolations(changes));
		});
		await recordAudit(trx, now, by, linkEntry('UPDATE', link, {changes: changeDetails(before, link, columns)}));
		return linkJson(services.addresses, owner, references.view(link));
	});
};

/** For this time nobody can take over the short code of a blocked link (trigger `links_blocked_code`). */
const keepCode = async (trx: Db, {organization_id, short_code}: LinkRow, deletedAt: Date): Promise<void> => {
	await trx('blocked_codes')
		.insert({organization_id, short_code, deleted_at: deletedAt})
		.onConflict(['organization_id', 'short_code'])
		.merge();
};

/** Removes a link for good; it counts against no quota any more. @throws 404. */
export const deleteLink = (
	services: Pick<Services, 'clock' | 'db'>,
	{organization, by, id}: {organization: {id: string}; by: Caller; id: string},
): Promise<{id: string; deleted: true}> =>
	inTransaction(services.db, async (trx) => {
		await lockOwner(trx, organization.id);
		await lockLinkCount(trx, organization.id);
		const removed = required(await createLinkStore(trx, organization.id).remove(id), linkNotFound);
		if (removed.decision?.state === 'block') {
			await keepCode(trx, removed, services.clock.now());
		}

		await moveLinkCount(trx, organization.id, {links: -1, appLinks: removed.isByApp ? -1 : 0});
		const entry = linkEntry('DELETE', removed, {path: removed.path, title: removed.title});
		await recordAudit(trx, services.clock.now(), by, entry);
		return {id: removed.id, deleted: true};
	});

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
		const action = state === 'block' ? 'BLOCK' : 'UNBLOCK';
		await recordAudit(trx, now, by, linkEntry(action, link, reason === null ? {} : {reason}));
	});
	return getLink(services, {organization, id});
};
