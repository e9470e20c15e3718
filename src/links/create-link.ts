import {randomUUID} from 'node:crypto';
import {recordAudit} from '../audit/audit-log.ts';
import {type Db, inTransaction, translateViolation} from '../db/db.ts';
import {
	domainNotFound,
	externalIdTaken,
	organizationNotFound,
	quotaExceeded,
	shortCodeTaken,
	templateNotFound,
} from '../errors.ts';
import {type PlanDeps, requireQuota} from '../plans/entitlements.ts';
import {APP_LINKS, appLinkLimit} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import {creationOf, emptyLink, generateShortCode} from './empty-link.ts';
import {createOnce} from './idempotent-create.ts';
import {type LinkInput, type LinkJson, type LinkRow, linkJson} from './link.ts';
import {readReferences} from './link-references.ts';
import {createLinkStore, lockLinkCount, moveLinkCount} from './link-store.ts';
import {type LockedOwner, lockOwner, requireClickQuota, requireCreationTerms} from './link-terms.ts';
import type {NewLink} from './link-writer.ts';

/** The refusals of a link's constraints. */
export const linkViolations = ({shortCode = '', externalId}: LinkInput) => ({
	links_organization_id_short_code_key: () => shortCodeTaken(shortCode),
	links_organization_id_external_id_key: () => externalIdTaken(externalId ?? ''),
	links_domain_id_fkey: domainNotFound,
	links_template_id_fkey: templateNotFound,
	links_organization_id_fkey: organizationNotFound,
});

type Deps = PlanDeps & Pick<Services, 'addresses' | 'refusals'>;

/** Inserts the row under its own short code, or under the first generated one that is free. @throws 409. */
const insert = async (trx: Db, row: LinkRow, fields: LinkInput): Promise<LinkRow> => {
	const store = createLinkStore(trx, row.organization_id);
	for (;;) {
		const link = {...row, short_code: fields.shortCode ?? generateShortCode()};
		const inserted = await store.insert([link]).catch((error: unknown) => {
			throw translateViolation(error, linkViolations(fields));
		});
		if (inserted.has(link.id)) {
			return link;
		}

		if (fields.shortCode !== undefined) {
			throw shortCodeTaken(fields.shortCode);
		}
	}
};

/** Checks plan, app configuration and quotas, and counts the new link. @throws 402, 428. */
export const countNewLink = async (
	services: Deps,
	trx: Db,
	owner: LockedOwner,
	{isByApp = false} = {},
): Promise<void> => {
	const plan = requireCreationTerms(services, owner);
	const {links, appLinks} = await lockLinkCount(trx, owner.id);
	requireQuota(plan, 'links', links);
	if (isByApp && appLinks >= (appLinkLimit(plan) ?? Number.POSITIVE_INFINITY)) {
		services.refusals.note(owner.id, APP_LINKS);
		throw quotaExceeded(APP_LINKS);
	}

	await moveLinkCount(trx, owner.id, {links: 1, appLinks: isByApp ? 1 : 0});

	await requireClickQuota(trx, owner, plan, services.clock.now());
};

/** Inserts a link that `countNewLink` has counted, with its audit record. @throws 404, 400, 409. */
export const insertLink = async (
	services: Deps,
	trx: Db,
	{owner, by, fields, id}: Omit<NewLink, 'organization'> & {owner: LockedOwner; id: string},
): Promise<LinkJson> => {
	const now = services.clock.now();
	const references = await readReferences(services, trx, owner, {inputs: [fields], lock: 'share'});
	const row = references.apply({...emptyLink(owner.id, references.defaultDomain.id, now), id}, fields);
	const link = await insert(trx, row, fields);
	await recordAudit(trx, now, by, creationOf(link));
	return linkJson(services.addresses, owner, references.view(link));
};

/** Runs one check after the other, so that the first refusal is the answer. */
const create = async (services: Deps, trx: Db, {organization, ...link}: NewLink): Promise<LinkJson> => {
	const owner = await lockOwner(trx, organization.id);
	await countNewLink(services, trx, owner);
	return insertLink(services, trx, {...link, owner, id: randomUUID()});
};

/**
 * Creates a link. The checks are in the order of contract/requests 8; a repetition with an idempotency key gets the
 * first answer before any check. Resolves once every process finds the new link.
 * @throws in this order: 402 without a plan, 428 without an app configuration, 402 over a quota, 404 for a foreign domain
 * or template, 400 for an unknown channel or without a path, 409 for a taken short code, external id or idempotency key.
 */
export const createLink = async (
	services: Deps & Pick<Services, 'changes' | 'clickJournal' | 'db' | 'linkWriter'>,
	{idempotencyKey, ...newLink}: NewLink & {idempotencyKey?: string | undefined},
): Promise<LinkJson> => {
	const {clickJournal, linkWriter, db, clock, changes} = services;
	const {organization, fields} = newLink;
	// The click quota counts rows of the tables, so waiting clicks must be in them first.
	await clickJournal.settled(organization.id);
	const written = idempotencyKey === undefined ? await linkWriter(newLink) : null;
	if (written !== null) {
		return written;
	}

	const created = await inTransaction(db, (trx) =>
		createOnce(trx, {organizationId: organization.id, key: idempotencyKey, request: fields, now: clock.now()}, () =>
			create(services, trx, newLink),
		),
	);
	await changes.settled();
	return created;
};
