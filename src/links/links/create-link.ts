import type {Caller} from '../../accounts/audit/audit-log.ts';
import {createBatches} from '../../platform/db/batches.ts';
import {type Db, inTransaction, translateViolation} from '../../platform/db/db.ts';
import {
	domainNotFound,
	externalIdTaken,
	HttpError,
	organizationNotFound,
	refusal,
	shortCodeTaken,
	templateNotFound,
} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {createOnce} from './idempotent-create.ts';
import {type LinkInput, type LinkJson, linkJson} from './link.ts';
import {
	type LinkReferences,
	type ReferenceDeps,
	readAppAddresses,
	readDomains,
	readReferences,
} from './link-references.ts';
import {type Creator, lockFreeCreators, readCreator, requireCreationTerms, requireQuotas} from './link-terms.ts';
import {emptyLink, generateShortCode, insertLinks, type NewRow} from './link-writer.ts';

/** The refusals of a link's constraints. */
export const linkViolations = ({shortCode = '', externalId}: LinkInput) => ({
	links_organization_id_short_code_key: () => shortCodeTaken(shortCode),
	links_organization_id_external_id_key: () => externalIdTaken(externalId ?? ''),
	links_domain_id_fkey: domainNotFound,
	links_template_id_fkey: templateNotFound,
	links_organization_id_fkey: organizationNotFound,
});

type Deps = ReferenceDeps & Pick<Services, 'addresses' | 'refusals'>;
type CreateDeps = Deps & Pick<Services, 'db'>;

type NewLink = {by: Caller; fields: LinkInput};

/** The row of a new link. @throws 404, 400. */
const rowOf = (creator: Creator, references: LinkReferences, {by, fields}: NewLink, now: Date): NewRow => {
	const blank = {...emptyLink(creator.id, references.defaultDomain.id, now), short_code: generateShortCode()};
	const link = {...references.apply(blank, fields), hasOwnCode: fields.shortCode !== undefined};
	return {link, path: link.path, by};
};

/** Inserts a link within the quotas, and records it. @throws 404, 400, 409. */
export const insertLink = async (
	services: Deps,
	trx: Db,
	{creator, isByApp = false, ...given}: NewLink & {creator: Creator; isByApp?: boolean},
): Promise<LinkJson> => {
	const now = services.clock.now();
	const references = await readReferences(services, trx, creator, {inputs: [given.fields], lock: 'share'});
	const row = rowOf(creator, references, given, now);
	await insertLinks(trx, {now, isByApp}, [row]).catch((error: unknown) => {
		throw translateViolation(error, linkViolations(given.fields));
	});
	return linkJson(services.addresses, creator, references.view(row.link));
};

type Create = NewLink & {organizationId: string; idempotencyKey?: string | undefined};

/** Creates one link in a transaction of its own. */
const createOne = ({db, ...services}: CreateDeps, {organizationId, idempotencyKey: key, ...given}: Create) => {
	const now = services.clock.now();
	return inTransaction(db, (trx) =>
		createOnce(trx, {organizationId, key, request: given.fields, now}, async () => {
			const creator = await readCreator(trx, {organizationId, now}, 'lock');
			requireQuotas(services, requireCreationTerms(services, creator), creator);
			return insertLink(services, trx, {...given, creator});
		}),
	);
};

/** Neither its names nor its references can fail a batch. */
const isPlain = ({idempotencyKey, fields: {shortCode, externalId, channel, domainId, templateId}}: Create): boolean =>
	[idempotencyKey, shortCode, externalId, channel, domainId, templateId].every((value) => value == null);

/**
 * Creates several plain links, of any organizations, in one transaction.
 * @returns per link its JSON, its refusal, or null if another transaction has locked its organization.
 */
const createMany = ({db, ...services}: CreateDeps, creates: readonly Create[]) =>
	inTransaction(db, async (trx) => {
		const now = services.clock.now();
		const ids = [...new Set(creates.map(({organizationId}) => organizationId))];
		const creators = await lockFreeCreators(trx, ids, now);
		const domains = await readDomains(trx, [...creators.keys()], 'share');
		const apps = await readAppAddresses(services, trx, [...creators.keys()]);
		const made: NewRow[] = [];
		const create = async (given: Create): Promise<(() => LinkJson) | null> => {
			const creator = creators.get(given.organizationId);
			if (creator === undefined) {
				return null;
			}

			requireQuotas(services, requireCreationTerms(services, creator), creator);
			const references = await readReferences(services, trx, creator, {domains, apps});
			const row = rowOf(creator, references, given, now);
			creator.counts.links += 1;
			made.push(row);
			return () => linkJson(services.addresses, creator, references.view(row.link));
		};
		const results: Array<(() => LinkJson) | HttpError | null> = [];
		for (const given of creates) {
			results.push(await create(given).catch(refusal));
		}

		await insertLinks(trx, {now}, made);
		return results.map((result) => (typeof result === 'function' ? result() : result));
	});

/** Beyond 20 links of one organization the feed reports that all of it has changed (migration change_feed). */
const MAX_BATCH = 20;

type Batches = (create: Create) => Promise<LinkJson | HttpError | null>;

/** The creates of this process that wait for the next transaction, by database. */
const batchesOf = new WeakMap<Db, Batches>();

/**
 * Plain links that are created at the same time share a transaction: docs/measurements.md has the savings.
 * @returns null for a link that has to be created by itself, for which the others do not wait.
 */
const createTogether = (services: CreateDeps, create: Create): ReturnType<Batches> => {
	const batches =
		batchesOf.get(services.db) ??
		createBatches<Create, LinkJson | HttpError | null>({
			max: MAX_BATCH,
			many: (creates) => createMany(services, creates),
			// A statement failed.
			one: async () => null,
		});
	batchesOf.set(services.db, batches);
	return batches(create);
};

/**
 * Creates a link. The checks are in the order of contract/requests 8; a repetition with an idempotency key gets the
 * first answer before any check. Resolves once every process finds the new link.
 * @throws in this order: 402 without a plan, 428 without an app configuration, 402 over a quota, 404 for a foreign domain
 * or template, 400 for an unknown channel or without a path, 409 for a taken short code, external id or idempotency key.
 */
export const createLink = async (
	services: CreateDeps & Pick<Services, 'changes' | 'clickJournal'>,
	{organization: {id: organizationId}, ...given}: Omit<Create, 'organizationId'> & {organization: {id: string}},
): Promise<LinkJson> => {
	// The click quota counts rows of the tables, so waiting clicks must be in them first.
	await services.clickJournal.flushed({containing: [organizationId]});
	const create = {...given, organizationId};
	const together = isPlain(create) ? await createTogether(services, create) : null;
	const created = together ?? (await createOne(services, create));
	if (created instanceof HttpError) {
		throw created;
	}

	await services.changes.settled();
	return created;
};
