import {type AuditEntry, type Caller, recordAudit} from '../../audit/audit-log.ts';
import type {Addresses} from '../../config/config.ts';
import {externalIdTaken, HttpError, quotaExceeded, shortCodeTaken} from '../../errors.ts';
import type {PlanDeps} from '../../plans/entitlements.ts';
import {emptyLink} from '../empty-link.ts';
import {changeDetails, changedColumns, effectiveMatching, type LinkInput} from '../link.ts';
import {type LinkReferences, readReferences} from '../link-references.ts';
import type {OnConflict} from '../link-schemas.ts';
import {type LockedOwner, lockOwner, requireClickQuota, requireCreationTerms} from '../link-terms.ts';
import {type ImportAnswer, importAnswer} from './import-answer.ts';
import type {ImportRow, ReadableRow} from './import-row.ts';
import {createIndex, createWrites} from './import-state.ts';
import type {HeldLink, ImportTarget, RowResult} from './import-target.ts';

const refusal = (error: unknown): HttpError => {
	if (error instanceof HttpError) {
		return error;
	}

	throw error;
};

/** The terms of every row of a chunk: the quota of links, or the refusal of all rows. */
const termsOf = async (services: PlanDeps, target: ImportTarget, owner: LockedOwner, now: Date) => {
	try {
		const plan = requireCreationTerms(services, owner);
		const overClicks = await requireClickQuota(target.db, owner, plan, now).then(() => null, refusal);
		return {limit: plan.quotas.links ?? Number.POSITIVE_INFINITY, overClicks};
	} catch (error) {
		return refusal(error);
	}
};

const isReadable = (row: ImportRow): row is ReadableRow => 'input' in row;

/** The links with the short codes or external ids of the rows, and the objects that both refer to. */
const readNeighbours = async (
	services: PlanDeps,
	target: ImportTarget,
	owner: LockedOwner,
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

type Chunk = {organizationId: string; by: Caller; onConflict: OnConflict; rows: ImportRow[]};

/**
 * Applies some rows in order, each like a separate create or update: a row that fails affects no other row. The rows of
 * a chunk share statements.
 */
export const importChunk = async (
	services: PlanDeps & {addresses: Addresses},
	target: ImportTarget,
	{organizationId, by, onConflict, rows}: Chunk,
): Promise<ImportAnswer[]> => {
	const now = services.clock.now();
	const owner = await lockOwner(target.db, organizationId);
	const terms = await termsOf(services, target, owner, now);
	const existing = await target.countLinks();
	const {references, index} = await readNeighbours(services, target, owner, rows.filter(isReadable), onConflict);
	const writes = createWrites(target);
	const audit: AuditEntry[] = [];
	let created = 0;

	const record = (action: string, link: HeldLink, details: Record<string, unknown>) => {
		audit.push({action, entityType: 'Link', entityId: link.id, organizationId, details});
	};

	const create = (row: ReadableRow, {limit, overClicks}: Exclude<typeof terms, HttpError>): RowResult => {
		if (existing + created >= limit) {
			throw quotaExceeded('links');
		}

		if (overClicks !== null) {
			throw overClicks;
		}

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
		record('CREATE', link, {shortCode: link.short_code, path: link.path});
		return {line: row.line, status: 'created', link};
	};

	const update = async (row: ReadableRow, link: HeldLink, overClicks: HttpError | null): Promise<RowResult> => {
		const before = {...link};
		const after = references.apply(before, importedInput(row, references, link));
		const columns = changedColumns(before, after);
		if (columns.length === 0) {
			return {line: row.line, status: 'skipped', link};
		}

		if (overClicks !== null) {
			throw overClicks;
		}

		const isRenamed = columns.includes('short_code') || columns.includes('external_id');
		if (isRenamed) {
			await writes.flush();
		}

		index.remove(link);
		Object.assign(link, after, {updated_at: now});
		index.add(link);
		writes.update(link);
		record('UPDATE', link, {shortCode: link.short_code, changes: changeDetails(before, after, columns)});
		if (isRenamed) {
			await writes.flush();
		}

		return {line: row.line, status: 'updated', link};
	};

	const apply = async (row: ImportRow): Promise<RowResult> => {
		if (!isReadable(row)) {
			throw row.error;
		}

		if (terms instanceof HttpError) {
			throw terms;
		}

		const withCode = index.withCode(row.input);
		const withExternalId = index.withExternalId(row.input);
		const link = withCode ?? withExternalId;
		if (link === undefined) {
			return create(row, terms);
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

		return update(row, link, terms.overClicks);
	};

	const results: RowResult[] = [];
	for (const row of rows) {
		results.push(
			await apply(row).catch((error: unknown) => ({line: row.line, status: 'failed', error: refusal(error)})),
		);
	}

	await writes.flush();
	await target.addToCount(created);
	if (!target.isDryRun) {
		await recordAudit(target.db, now, by, ...audit);
	}

	return results.map((result) => importAnswer(services.addresses, owner, references, target, result));
};
