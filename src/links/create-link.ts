import type {Caller} from '../audit/audit-log.ts';
import {type Db, inTransaction, translateViolation} from '../db/db.ts';
import {domainNotFound, externalIdTaken, organizationNotFound, shortCodeTaken, templateNotFound} from '../errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {PlanDeps} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {emptyLink, generateShortCode} from './empty-link.ts';
import {createOnce} from './idempotent-create.ts';
import {type LinkInput, type LinkJson, linkJson} from './link.ts';
import {readReferences} from './link-references.ts';
import {type Creator, readCreator, requireCreationTerms, requireRoom} from './link-terms.ts';
import {insertLinks} from './link-writer.ts';

/** The refusals of a link's constraints. */
export const linkViolations = ({shortCode = '', externalId}: LinkInput) => ({
	links_organization_id_short_code_key: () => shortCodeTaken(shortCode),
	links_organization_id_external_id_key: () => externalIdTaken(externalId ?? ''),
	links_domain_id_fkey: domainNotFound,
	links_template_id_fkey: templateNotFound,
	links_organization_id_fkey: organizationNotFound,
});

type Deps = PlanDeps & Pick<Services, 'addresses' | 'refusals'>;

type NewLink = {creator: Creator; by: Caller; fields: LinkInput; isByApp?: boolean};

/** Inserts a link for which there is room, and records it. @throws 404, 400, 409. */
export const insertLink = async (
	services: Deps,
	trx: Db,
	{creator, by, fields, isByApp = false}: NewLink,
): Promise<LinkJson> => {
	const now = services.clock.now();
	const references = await readReferences(services, trx, creator, {inputs: [fields], lock: 'share'});
	const blank = {...emptyLink(creator.id, references.defaultDomain.id, now), short_code: generateShortCode()};
	const link = {...references.apply(blank, fields), hasOwnCode: fields.shortCode !== undefined};
	await insertLinks(trx, {now, by, isByApp}, [{link, path: link.path}]).catch((error: unknown) => {
		throw translateViolation(error, linkViolations(fields));
	});
	return linkJson(services.addresses, creator, references.view(link));
};

/**
 * Creates a link. The checks are in the order of contract/requests 8; a repetition with an idempotency key gets the
 * first answer before any check. Resolves once every process finds the new link.
 * @throws in this order: 402 without a plan, 428 without an app configuration, 402 over a quota, 404 for a foreign domain
 * or template, 400 for an unknown channel or without a path, 409 for a taken short code, external id or idempotency key.
 */
export const createLink = async (
	services: Deps & Pick<Services, 'changes' | 'clickJournal' | 'db'>,
	{
		organization: {id: organizationId},
		by,
		fields,
		idempotencyKey: key,
	}: {organization: Organization; by: Caller; fields: LinkInput; idempotencyKey?: string | undefined},
): Promise<LinkJson> => {
	const now = services.clock.now();
	// The click quota counts rows of the tables, so waiting clicks must be in them first.
	await services.clickJournal.settled(organizationId);
	const created = await inTransaction(services.db, (trx) =>
		createOnce(trx, {organizationId, key, request: fields, now}, async () => {
			const creator = await readCreator(trx, {organizationId, now}, 'lock');
			requireRoom(services, requireCreationTerms(services, creator), creator);
			return insertLink(services, trx, {creator, by, fields});
		}),
	);
	await services.changes.settled();
	return created;
};
