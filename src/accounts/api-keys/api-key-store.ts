import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, translateViolation} from '../../platform/db/db.ts';
import {execute, prepared, run, sql} from '../../platform/db/sql.ts';
import {organizationNotFound} from '../../platform/errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Tier} from './api-key.ts';

export type ApiKey = {
	id: string;
	tier: Tier;
	prefix: string;
	keyHash: Buffer;
	/** As stored, perhaps encrypted; null for legacy rows. */
	displayKey: string | null;
	isRevoked: boolean;
	expiresAt: Date | null;
	lastUsedAt: Date | null;
	createdAt: Date;
};

const columns: Columns<ApiKey> = columnsOf(
	'id, tier, prefix, key_hash, display_key, is_revoked, expires_at, last_used_at, created_at',
);

/** Tolerated age of `lastUsedAt`: a write per request would cost more than the figure is worth. */
const LAST_USED_MS = 60_000;

/** Whether a use at `now` is worth a write. */
export const isUseWorthNoting = ({lastUsedAt}: Pick<ApiKey, 'lastUsedAt'>, now: Date): boolean =>
	lastUsedAt === null || now.getTime() - lastUsedAt.getTime() >= LAST_USED_MS;

const byPrefix = (prefix: string) =>
	prepared(
		'api keys by prefix',
		sql`SELECT ${columns.of('api_keys')}, organization_id AS "organizationId",
			clerk_org_id AS "clerkOrgId", org_key AS "orgKey", name, status, plan, entitled_until AS "entitledUntil",
			contact_email AS "contactEmail", default_domain_id AS "defaultDomainId",
			organizations.created_at AS "organizationCreatedAt"
		FROM api_keys JOIN organizations ON organizations.id = api_keys.organization_id
		WHERE prefix = ${prefix}`,
	);

/** Skips a key that another process updates at this moment: it writes the same. */
const noteUse = ({id, at}: {id: string; at: Date}) =>
	prepared(
		'note a use of an api key',
		sql`UPDATE api_keys SET last_used_at = ${at}
		WHERE id = (SELECT id FROM api_keys WHERE id = ${id} FOR NO KEY UPDATE SKIP LOCKED)`,
	);

/** A key and its organization. */
type OwnedKey = {key: ApiKey; organization: Organization};

type Row = ApiKey & Organization & {organizationId: string; organizationCreatedAt: Date};

// Field by field: a rest or a spread takes microseconds here, this takes nanoseconds.
const toOwnedKey = (row: Row): OwnedKey => ({
	key: {
		id: row.id,
		tier: row.tier,
		prefix: row.prefix,
		keyHash: row.keyHash,
		displayKey: row.displayKey,
		isRevoked: row.isRevoked,
		expiresAt: row.expiresAt,
		lastUsedAt: row.lastUsedAt,
		createdAt: row.createdAt,
	},
	organization: {
		id: row.organizationId,
		clerkOrgId: row.clerkOrgId,
		orgKey: row.orgKey,
		name: row.name,
		status: row.status,
		plan: row.plan,
		entitledUntil: row.entitledUntil,
		contactEmail: row.contactEmail,
		defaultDomainId: row.defaultDomainId,
		createdAt: row.organizationCreatedAt,
	},
});

/** The statements on API keys, over a pool or a transaction. */
export const createApiKeyStore = (db: Db) => ({
	/** Keys with a prefix, of any state, each with its organization. */
	findByPrefix: async (prefix: string): Promise<OwnedKey[]> => {
		const rows = await run<Row>(db, byPrefix(prefix));
		return rows.map(toOwnedKey);
	},

	/** The organization's current key of each tier, neither revoked nor superseded. */
	listCurrent: (organizationId: string): Promise<ApiKey[]> =>
		db('api_keys').where({organization_id: organizationId, is_revoked: false, expires_at: null}).select(columns.list),

	/** Earlier keys that are still accepted, the next to end first. */
	listEarlier: (organizationId: string, now: Date): Promise<ApiKey[]> =>
		db('api_keys')
			.where({organization_id: organizationId, is_revoked: false})
			.where('expires_at', '>', now)
			.orderBy(['expires_at', 'id'])
			.select(columns.list),

	/** Revokes a key that is still accepted. @returns its tier and prefix, or null if there is none. */
	revoke: async (organizationId: string, id: string, now: Date): Promise<Pick<ApiKey, 'tier' | 'prefix'> | null> => {
		const [revoked] = await db('api_keys')
			.where({organization_id: organizationId, id, is_revoked: false})
			.where((valid) => valid.whereNull('expires_at').orWhere('expires_at', '>', now))
			.update({is_revoked: true, revoked_at: now})
			.returning(['tier', 'prefix']);
		return revoked ?? null;
	},

	/** The stored display keys of the oldest current keys of all organizations, for the operator. */
	listDisplayKeys: (limit: number): Promise<string[]> =>
		db('api_keys')
			.where({is_revoked: false, expires_at: null})
			.whereNotNull('display_key')
			.orderBy('created_at')
			.limit(limit)
			.pluck('display_key'),

	/**
	 * Adds a current key, or returns null if the tier has one already: the index api_keys_current_key decides.
	 * @throws 404 if the organization was deleted meanwhile.
	 */
	insertCurrent: async (
		key: {organizationId: string; tier: Tier; prefix: string; keyHash: Buffer; displayKey: string},
		now: Date,
	): Promise<ApiKey | null> => {
		const {organizationId, tier, prefix, keyHash, displayKey} = key;
		const [inserted] = await run<ApiKey>(
			db,
			sql`INSERT INTO api_keys (id, organization_id, tier, prefix, key_hash, display_key, created_at)
			VALUES (${randomUUID()}, ${organizationId}, ${tier}, ${prefix}, ${keyHash}, ${displayKey}, ${now})
			ON CONFLICT (organization_id, tier) WHERE NOT is_revoked AND expires_at IS NULL DO NOTHING
			RETURNING ${columns.of('api_keys')}`,
		).catch((error: unknown) => {
			throw translateViolation(error, {api_keys_organization_id_fkey: organizationNotFound});
		});
		return inserted ?? null;
	},

	/** Lets the tier's current key expire at `expiresAt`. */
	expireCurrent: (organizationId: string, tier: Tier, expiresAt: Date) =>
		db('api_keys')
			.where({organization_id: organizationId, tier, is_revoked: false, expires_at: null})
			.update({expires_at: expiresAt}),

	/** Revokes every key of the tier that is not revoked yet. */
	revokeAll: (organizationId: string, tier: Tier, now: Date) =>
		db('api_keys')
			.where({organization_id: organizationId, tier, is_revoked: false})
			.update({is_revoked: true, revoked_at: now}),

	noteUse: (use: {id: string; at: Date}): Promise<unknown> => execute(db, noteUse(use)),
});
