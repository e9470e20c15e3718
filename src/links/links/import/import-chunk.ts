import {type AuditEntry, type Caller, recordAudit} from '../../../accounts/audit/audit-log.ts';
import {type PlanDeps, requireQuota} from '../../../accounts/plans/entitlements.ts';
import type {Plan} from '../../../platform/config/plans.ts';
import {externalIdTaken, HttpError, refusal, shortCodeTaken} from '../../../platform/errors.ts';
import type {Services} from '../../../services.ts';
import {changeDetails, changedColumns, effectiveMatching, type LinkInput, type LinkOwner} from '../link.ts';
import {type LinkReferences, readReferences} from '../link-references.ts';
import type {OnConflict} from '../link-schemas.ts';
import {type Creator, requireCreationTerms, requireRoom} from '../link-terms.ts';
import {emptyLink} from '../link-writer.ts';
import {type ImportAnswer, importAnswer} from './import-answer.ts';
import type {ImportRow, ReadableRow} from './import-row.ts';
import type {HeldLink, ImportTarget, RowResult} from './import-target.ts';

/** The links that rows of a chunk may refer to, by their names. */
export const createIndex = (links: HeldLink[]) => {
	const byCode = new Map<string, HeldLink>();
	const byExternalId = new Map<string, HeldLink>();
	const add = (link: HeldLink) => {
		byCode.set(link.short_code, link);
		if (link.external_id !== null) {
			byExternalId.set(link.external_id, link);
		}
	};
	const remove = (link: HeldLink) => {
		byCode.delete(link.short_code);
		if (link.external_id !== null) {
			byExternalId.delete(link.external_id);
		}
	};
	links.forEach(add);
	return {
		add,
		remove,
		withCode: ({shortCode}: LinkInput) => (shortCode === undefined ? undefined : byCode.get(shortCode)),
		withExternalId: ({externalId}: LinkInput) => (externalId == null ? undefined : byExternalId.get(externalId)),
	};
};

/** Collects writes for one statement each. A change of names is written at once, because later rows may rely on it. */
export const createWrites = (target: ImportTarget) => {
	let inserts: Array<{link: HeldLink; path: string | null}> = [];
	const updates = new Set<HeldLink>();
	return {
		insert: (link: HeldLink) => void inserts.push({link, path: link.path}),
		update: (link: HeldLink) => void (inserts.some((one) => one.link === link) || updates.add(link)),
		flush: async () => {
			const [inserted, updated] = [inserts, [...updates]];
			inserts = [];
			updates.clear();
			if (inserted.length > 0) {
				await target.insert(inserted);
			}

			if (updated.length > 0) {
				await target.update(updated);
			}
		},
	};
};

/** The plan of every row of a chunk, or the refusal of all rows. */
const planOf = (services: PlanDeps, creator: Creator): Plan | HttpError => {
	try {
		return requireCreationTerms(services, creator);
	} catch (error) {
		return refusal(error);
	}
};

const isReadable = (row: ImportRow): row is ReadableRow => 'input' in row;

/** The links with the short codes or external ids of the rows, and the objects that both refer to. */
const readNeighbours = async (
	services: PlanDeps,
	target: ImportTarget,
	owner: LinkOwner,
	rows: ReadableRow[],
	onConflict: OnConflict,
) => {
	const inputs = rows.map(({input}) => input);
	const found = await target.find({
		shortCodes: inputs.flatMap(({shortCode}) => shortCode ?? []),
		externalIds: inputs.flatMap(({externalId}) => externalId ?? []),
	});
	const lock = target.isDryRun ? 'none' : 'share';
	const references = await readReferences(services, target.db, owner, {links: found, inputs, lock});
	return {references, index: createIndex(onConflict === 'update' ? await target.lock(found) : found)};
};

/**
 * The input of a row. An exported row may name a domain that this organization does not have: it is dropped. It shows
 * its matching fields as they took effect: those that a link inherits are not set on it.
 */
const importedInput = (
	{input, isExported}: ReadableRow,
	references: LinkReferences,
	link: HeldLink | null,
): LinkInput => {
	const {domainId, ...rest} = input;
	const isForeign = isExported && domainId != null && !references.hasDomain(domainId);
	const kept: LinkInput = domainId === undefined || isForeign ? rest : input;
	if (!isExported || link === null) {
		return kept;
	}

	const {deferredDeepLinking, matchWindowHours, ...others} = kept;
	const effective = effectiveMatching(link, references.view(link).template);
	const isSet = <T>(own: T | null, shown: T, value: T | null | undefined): value is T | null =>
		value !== undefined && !(own === null && value === shown);
	return {
		...others,
		...(isSet(link.deferred_deep_linking, effective.deferredDeepLinking, deferredDeepLinking)
			? {deferredDeepLinking}
			: {}),
		...(isSet(link.match_window_hours, effective.matchWindowHours, matchWindowHours) ? {matchWindowHours} : {}),
	};
};

type Chunk = {now: Date; organizationId: string; by: Caller; onConflict: OnConflict; rows: ImportRow[]};

/**
 * Applies some rows in order, each like a separate create or update: a row that fails affects no other row. The rows of
 * a chunk share statements.
 */
export const importChunk = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'refusals'>,
	target: ImportTarget,
	{now, organizationId, by, onConflict, rows}: Chunk,
): Promise<ImportAnswer[]> => {
	const creator = await target.creator();
	const plan = planOf(services, creator);
	const {references, index} = await readNeighbours(services, target, creator, rows.filter(isReadable), onConflict);
	const writes = createWrites(target);
	const audit: AuditEntry[] = [];
	let created = 0;

	const create = (row: ReadableRow, plan: Plan): RowResult => {
		requireRoom(services, plan, creator, {created});
		const input = importedInput(row, references, null);
		const blank = emptyLink(organizationId, references.defaultDomain.id, now);
		const link: HeldLink = {
			...references.apply({...blank, short_code: target.newShortCode()}, input),
			isNew: true,
			hasOwnCode: input.shortCode !== undefined,
		};
		created += 1;
		index.add(link);
		writes.insert(link);
		return {line: row.line, status: 'created', link};
	};

	const update = async (row: ReadableRow, link: HeldLink, plan: Plan): Promise<RowResult> => {
		const before = {...link};
		const after = references.apply(before, importedInput(row, references, link));
		const columns = changedColumns(before, after);
		if (columns.length === 0) {
			return {line: row.line, status: 'skipped', link};
		}

		requireQuota(plan, 'clicks', creator.monthClicks);

		const isRenamed = columns.includes('short_code') || columns.includes('external_id');
		if (isRenamed) {
			await writes.flush();
		}

		index.remove(link);
		Object.assign(link, after, {updated_at: now});
		index.add(link);
		writes.update(link);
		audit.push({
			action: 'UPDATE',
			entityType: 'Link',
			entityId: link.id,
			organizationId,
			details: {shortCode: link.short_code, changes: changeDetails(before, after, columns)},
		});
		if (isRenamed) {
			await writes.flush();
		}

		return {line: row.line, status: 'updated', link};
	};

	const apply = async (row: ImportRow): Promise<RowResult> => {
		if (!isReadable(row)) {
			throw row.error;
		}

		if (plan instanceof HttpError) {
			throw plan;
		}

		const withCode = index.withCode(row.input);
		const withExternalId = index.withExternalId(row.input);
		const link = withCode ?? withExternalId;
		if (link === undefined) {
			return create(row, plan);
		}

		if (onConflict === 'skip') {
			return {line: row.line, status: 'skipped', link};
		}

		if (onConflict === 'fail' && withCode !== undefined) {
			throw shortCodeTaken(withCode.short_code);
		}

		// Also if the two names belong to two links: one link cannot become both.
		if (onConflict === 'fail' || (withExternalId !== undefined && withExternalId !== link)) {
			throw externalIdTaken(row.input.externalId ?? '');
		}

		return update(row, link, plan);
	};

	const results: RowResult[] = [];
	for (const row of rows) {
		results.push(
			await apply(row).catch((error: unknown) => ({line: row.line, status: 'failed', error: refusal(error)})),
		);
	}

	await writes.flush();
	if (!target.isDryRun) {
		await recordAudit(target.db, now, by, ...audit);
	}

	return results.map((result) => importAnswer(services.addresses, creator, references, target, result));
};
