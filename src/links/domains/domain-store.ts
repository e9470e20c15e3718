import {randomUUID} from 'node:crypto';
import type {OrganizationStatus} from '../../accounts/organizations/organization-store.ts';
import type {Entitled} from '../../accounts/plans/entitlements.ts';
import {ConfigError} from '../../platform/config/config.ts';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, onlyRow, translateViolation} from '../../platform/db/db.ts';
import {countRows, descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {execute, run, sql} from '../../platform/db/sql.ts';
import {domainTaken, required} from '../../platform/errors.ts';
import type {ConfiguredDomain, Domain, DomainSettings, DomainStatus} from './domain.ts';

const columns: Columns<ConfiguredDomain> = columnsOf(
	'id, organization_id, hostname, status, verification_token, created_at, path_prefixes, root_url, unknown_codes_url',
);

/** A VERIFIED custom domain with its organization, whose plan decides whether it serves. */
export type VerifiedDomain = Entitled &
	DomainSettings & {
		id: string;
		organizationId: string;
		orgKey: string;
		organizationName: string;
		organizationStatus: OrganizationStatus;
	};

/** The VERIFIED custom domain of a host name (as `normalHostname` writes it), of any organization. */
export const findVerifiedDomain = async (db: Db, hostname: string): Promise<VerifiedDomain | null> => {
	const [domain] = await run<VerifiedDomain>(
		db,
		sql`SELECT domains.id, organization_id AS "organizationId", org_key AS "orgKey", name AS "organizationName",
			organizations.status AS "organizationStatus", plan, entitled_until AS "entitledUntil",
			path_prefixes AS "pathPrefixes", root_url AS "rootUrl", unknown_codes_url AS "unknownCodesUrl"
		FROM domains JOIN organizations ON organizations.id = organization_id
		WHERE hostname = ${hostname} AND domains.status = 'VERIFIED'`,
	);
	return domain ?? null;
};

/** @throws ConfigError for an alias of the shared link domain that an organization has verified as its own. */
export const requireFreeAliases = async (db: Db, aliases: readonly string[]): Promise<void> => {
	const taken: string[] =
		aliases.length === 0
			? []
			: await db('domains').where({status: 'VERIFIED'}).whereIn('hostname', aliases).pluck('hostname');
	if (taken.length > 0) {
		throw new ConfigError([
			`LINK_DOMAIN_ALIASES must not name a custom domain of an organization; wrong: ${taken.join(', ')}`,
		]);
	}
};

/** Whether a host name is a VERIFIED custom domain of any organization. */
export const isVerifiedHostname = async (db: Db, hostname: string): Promise<boolean> =>
	(await db('domains').where({hostname, status: 'VERIFIED'}).first('id')) !== undefined;

/** The id of the shared link domain, which the migrations made. */
export const sharedDomainId = async (db: Db): Promise<string> => {
	const rows: Array<{id: string}> = await db('domains').whereNull('organization_id').select('id');
	return onlyRow(rows).id;
};

/** The domain, if the organization's links may be on it: the shared one, or one of its own that is VERIFIED. */
export const findUsableDomain = async (
	db: Db,
	organizationId: string,
	domainId: string,
): Promise<ConfiguredDomain | null> =>
	(await db('domains')
		.where({id: domainId, status: 'VERIFIED'})
		.andWhere((owner) => owner.whereNull('organization_id').orWhere({organization_id: organizationId}))
		.first(columns.list)) ?? null;

/** The number only has to differ from our other advisory locks. */
const HOSTNAME_LOCK = 7_340_112;

/**
 * Decisions about a host name that apply to every organization. Each addition, verification, approval and rejection
 * locks the name until its transaction ends, so none misses a concurrent decision.
 */
export const createHostnameDecisions = (trx: Db) => ({
	lock: async (hostname: string): Promise<void> => {
		await execute(trx, sql`SELECT pg_advisory_xact_lock(${HOSTNAME_LOCK}, hashtext(${hostname}))`);
	},

	isRejected: async (hostname: string): Promise<boolean> =>
		(await trx('rejected_hostnames').where({hostname}).select('hostname')).length > 0,

	/** Rejects the name, unless another organization has verified it; the caller rejects this organization's domain anyway. */
	reject: async (hostname: string, organizationId: string, now: Date): Promise<void> => {
		await execute(
			trx,
			sql`INSERT INTO rejected_hostnames (hostname, rejected_at)
			SELECT ${hostname}, ${now}
			WHERE NOT EXISTS (
				SELECT FROM domains
				WHERE hostname = ${hostname} AND status = 'VERIFIED' AND organization_id <> ${organizationId}
			)
			ON CONFLICT DO NOTHING`,
		);
	},

	approve: async (hostname: string): Promise<void> => {
		await trx('rejected_hostnames').where({hostname}).delete();
	},
});

type NewDomain = {hostname: string; token: string; status: 'PENDING' | 'REJECTED'};

/** @throws 409 if the organization has the domain, or if it is VERIFIED for another one. */
const insertDomain = async (
	db: Db,
	organizationId: string,
	{hostname, token, status}: NewDomain,
	now: Date,
): Promise<ConfiguredDomain> => {
	const [inserted] = await run<ConfiguredDomain>(
		db,
		sql`INSERT INTO domains (id, organization_id, hostname, status, verification_token, created_at, updated_at)
		SELECT ${randomUUID()}, ${organizationId}, ${hostname}, ${status}, ${token}, ${now}, ${now}
		WHERE NOT EXISTS (SELECT FROM domains WHERE hostname = ${hostname} AND status = 'VERIFIED')
		RETURNING ${columns.of('domains')}`,
	).catch((error: unknown) => {
		throw translateViolation(error, {domains_organization_id_hostname_key: () => domainTaken(hostname)});
	});
	return required(inserted, () => domainTaken(hostname));
};

/** The statements on one organization's domains, over a pool or a transaction. */
export const createDomainStore = (db: Db, organizationId: string) => {
	const own = {organization_id: organizationId};
	const all = () => db('domains').where(own);
	const one = (id: string) => all().where({id});

	return {
		/** The organization's own domains, newest first, and the shared one after them. */
		list: (page: PageQuery): Promise<Page<ConfiguredDomain>> => {
			const shown = db('domains')
				.where((owner) => owner.where(own).orWhereNull('organization_id'))
				.select(columns.list);
			return readPage(shown, page, ['organization_id', ...descending('created_at', 'id')]);
		},

		count: (): Promise<number> => countRows(all()),

		/** Whether the organization has a VERIFIED domain of its own. */
		hasVerified: async (): Promise<boolean> => (await all().where({status: 'VERIFIED'}).first('id')) !== undefined,

		/** A domain of the organization, by its id. */
		find: async (id: string): Promise<ConfiguredDomain | null> => (await one(id).first(columns.list)) ?? null,

		/** As `find`, and locks it until the transaction ends. With `blocksNewLinks`, no link is created on it until then, either. */
		lock: async (
			id: string,
			{blocksNewLinks = false}: {blocksNewLinks?: boolean} = {},
		): Promise<ConfiguredDomain | null> => {
			const query = one(id).first(columns.list);
			return (await (blocksNewLinks ? query.forUpdate() : query.forNoKeyUpdate())) ?? null;
		},

		insert: (domain: NewDomain, now: Date): Promise<ConfiguredDomain> => insertDomain(db, organizationId, domain, now),

		/** @throws 409 if the name is already VERIFIED for another organization. */
		setStatus: async ({id, hostname}: Domain, status: DomainStatus, now: Date): Promise<ConfiguredDomain> => {
			const rows: ConfiguredDomain[] = await one(id)
				.update({status, verified_at: status === 'VERIFIED' ? now : null, updated_at: now})
				.returning(columns.list)
				.catch((error: unknown) => {
					throw translateViolation(error, {domains_verified_hostname_key: () => domainTaken(hostname ?? '')});
				});
			return onlyRow(rows);
		},

		/** Sets exactly the given settings. */
		configure: async (id: string, settings: Partial<DomainSettings>, now: Date): Promise<ConfiguredDomain> => {
			const changes = toColumns({...settings, updatedAt: now});
			return onlyRow(await one(id).update(changes).returning(columns.list));
		},

		/** Moves the links of a domain to another one, locked in the order of `lockAll` (link-store.ts). @returns their number. */
		moveLinks: (from: string, to: string, now: Date): Promise<number> =>
			execute(
				db,
				sql`UPDATE links SET domain_id = ${to}, updated_at = ${now} WHERE id IN (
					SELECT id FROM links WHERE organization_id = ${organizationId} AND domain_id = ${from} ORDER BY id FOR UPDATE)`,
			),

		remove: (id: string): Promise<number> => one(id).delete(),
	};
};
