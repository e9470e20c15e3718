import {type AuditEntry, type Caller, recordAudit} from '../../../accounts/audit/audit-log.ts';
import {type PlanDeps, requireQuota} from '../../../accounts/plans/entitlements.ts';
import type {Plan} from '../../../platform/config/plans.ts';
import {externalIdTaken, HttpError, refusal, shortCodeTaken} from '../../../platform/errors.ts';
import type {Services} from '../../../services.ts';
import {
	changeDetails,
	changedColumns,
	effectiveMatching,
	type LinkInput,
	type LinkOwner,
	type LinkRow,
} from '../link.ts';
import {type LinkReferences, readReferences} from '../link-references.ts';
import type {OnConflict} from '../link-schemas.ts';
import {createLinkStore} from '../link-store.ts';
import {type Creator, requireCreationTerms, requireQuotas} from '../link-terms.ts';
import {emptyLink, linkEntry} from '../link-writer.ts';
import type {ImportRow, ReadableRow} from './import-row.ts';
import {createIndex, createWrites} from './import-state.ts';
import type {ImportedLink, ImportTarget, RowResult} from './import-target.ts';
import {type ImportAnswer, importAnswer} from './import-target.ts';

/** The plan of every row of a chunk, or the refusal of all rows. */
const planOf = (services: PlanDeps, creator: Creator): Plan | HttpError => {
	try {
		return requireCreationTerms(services, creator);
	} catch (error) {
		return refusal(error);
	}
};

const isReadable = (row: ImportRow): row is ReadableRow => 'input' in row;

type Chunk = {now: Date; organizationId: string; by: Caller; onConflict: OnConflict; rows: ImportRow[]};

/** The links with the short codes or external ids of the rows, and the objects that both refer to. */
const readNeighbours = async (
	services: PlanDeps & Pick<Services, 'linkPolicy'>,
	target: ImportTarget,
	owner: LinkOwner,
	{now, rows, onConflict}: Chunk,
) => {
	const inputs = rows.filter(isReadable).map(({input}) => input);
	const shortCodes = inputs.flatMap(({shortCode}) => shortCode ?? []);
	const found = await target.find({
		shortCodes,
		externalIds: inputs.flatMap(({externalId}) => externalId ?? []),
	});
	const lock = target.isDryRun ? 'none' : 'share';
	const references = await readReferences(services, target.db, owner, {links: found, inputs, lock});
	const keptCodes = new Set(await createLinkStore(target.db, owner.id).keptCodes(shortCodes, now));
	return {references, keptCodes, index: createIndex(onConflict === 'update' ? await target.lock(found) : found)};
};

/**
 * The input of a row. An exported row may name a domain that this organization does not have: it is dropped. It shows
 * its matching fields as they took effect: those that a link inherits are not set on it.
 */
const importedInput = (
	{input, isExported}: ReadableRow,
	references: LinkReferences,
	link: ImportedLink | null,
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

type Deps = PlanDeps & Pick<Services, 'addresses' | 'linkPolicy' | 'refusals'>;
type Existing = Awaited<ReturnType<typeof readNeighbours>>;

/** Applies the rows of a chunk to the links that they name. */
class ChunkImport {
	readonly #services: Deps;
	readonly #chunk: Chunk;
	readonly #target: ImportTarget;
	readonly #creator: Creator;
	readonly #plan: Plan | HttpError;
	readonly #existing: Existing;
	readonly #writes: ReturnType<typeof createWrites>;
	readonly #audit: AuditEntry[] = [];
	#created = 0;

	constructor(services: Deps, chunk: Chunk, target: ImportTarget, creator: Creator, existing: Existing) {
		this.#services = services;
		this.#chunk = chunk;
		this.#target = target;
		this.#creator = creator;
		this.#plan = planOf(services, creator);
		this.#existing = existing;
		this.#writes = createWrites(target);
	}

	async run(): Promise<ImportAnswer[]> {
		const {now, by, rows} = this.#chunk;
		const results: RowResult[] = [];
		for (const row of rows) {
			results.push(
				await this.#apply(row).catch((error: unknown) => ({line: row.line, status: 'failed', error: refusal(error)})),
			);
		}

		await this.#writes.flush();
		if (!this.#target.isDryRun) {
			await recordAudit(this.#target.db, now, by, ...this.#audit);
		}

		const {addresses} = this.#services;
		return results.map((result) =>
			importAnswer(addresses, this.#creator, this.#existing.references, this.#target, result),
		);
	}

	async #apply(row: ImportRow): Promise<RowResult> {
		if (!isReadable(row)) {
			throw row.error;
		}

		if (this.#plan instanceof HttpError) {
			throw this.#plan;
		}

		const {onConflict} = this.#chunk;
		const withCode = this.#existing.index.withCode(row.input);
		const withExternalId = this.#existing.index.withExternalId(row.input);
		const link = withCode ?? withExternalId;
		if (link === undefined) {
			return this.#create(row, this.#plan);
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

		return this.#update(row, link, this.#plan);
	}

	/** The trigger of such a code would fail the chunk. @throws 409. */
	#requireFree({short_code: shortCode}: LinkRow): void {
		if (this.#existing.keptCodes.has(shortCode)) {
			throw shortCodeTaken(shortCode);
		}
	}

	#create(row: ReadableRow, plan: Plan): RowResult {
		const {references, index} = this.#existing;
		requireQuotas(this.#services, plan, this.#creator, {created: this.#created});
		const input = importedInput(row, references, null);
		const blank = emptyLink(this.#chunk.organizationId, references.defaultDomain.id, this.#chunk.now);
		const link: ImportedLink = {
			...references.apply({...blank, short_code: this.#target.newShortCode()}, input),
			isNew: true,
			hasOwnCode: input.shortCode !== undefined,
		};
		this.#requireFree(link);
		this.#created += 1;
		index.add(link);
		this.#writes.insert(link);
		return {line: row.line, status: 'created', link};
	}

	async #update(row: ReadableRow, link: ImportedLink, plan: Plan): Promise<RowResult> {
		const {references, index} = this.#existing;
		const before = {...link};
		const after = references.apply(before, importedInput(row, references, link));
		const columns = changedColumns(before, after);
		if (columns.length === 0) {
			return {line: row.line, status: 'skipped', link};
		}

		requireQuota(plan, 'clicks', this.#creator.monthClicks);
		if (columns.includes('short_code')) {
			this.#requireFree(after);
			if (before.decision?.state === 'block') {
				this.#existing.keptCodes.add(before.short_code);
			}
		}

		const isRenamed = columns.includes('short_code') || columns.includes('external_id');
		if (isRenamed) {
			await this.#writes.flush();
		}

		index.remove(link);
		Object.assign(link, after, {updated_at: this.#chunk.now});
		index.add(link);
		this.#writes.update(link);
		this.#audit.push(linkEntry('UPDATE', link, {changes: changeDetails(before, after, columns)}));
		if (isRenamed) {
			await this.#writes.flush();
		}

		return {line: row.line, status: 'updated', link};
	}
}

/**
 * Applies some rows in order, each like a separate create or update: a row that fails affects no other row. The rows of
 * a chunk share statements.
 */
export const importChunk = async (services: Deps, target: ImportTarget, chunk: Chunk): Promise<ImportAnswer[]> => {
	const creator = await target.creator();
	const existing = await readNeighbours(services, target, creator, chunk);
	return new ChunkImport(services, chunk, target, creator, existing).run();
};
