import {randomUUID} from 'node:crypto';
import {type Db, onlyRow} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {type Organization, type OrganizationRow, toOrganization} from '../organizations/organization-store.ts';
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

type Row = {
	id: string;
	tier: Tier;
	prefix: string;
	key_hash: Buffer;
	display_key: string | null;
	is_revoked: boolean;
	expires_at: Date | null;
	last_used_at: Date | null;
	created_at: Date;
};

type JoinedRow = Row & OrganizationRow & {organization_id: string; organization_created_at: Date};

const toApiKey = (row: Row): ApiKey => ({
	id: row.id,
	tier: row.tier,
	prefix: row.prefix,
	keyHash: row.key_hash,
	displayKey: row.display_key,
	isRevoked: row.is_revoked,
	expiresAt: row.expires_at,
	lastUsedAt: row.last_used_at,
	createdAt: row.created_at,
});

/** How stale `lastUsedAt` may be: a write per request would cost more than the figure is worth. */
const LAST_USED_MS = 60_000;

/** Whether a use at `now` is worth noting. */
export const isUseWorthNoting = ({lastUsedAt}: Pick<ApiKey, 'lastUsedAt'>, now: Date): boolean =>
	lastUsedAt === null || now.getTime() - lastUsedAt.getTime() >= LAST_USED_MS;

const byPrefixes: Prepared = {
	name: 'api keys by prefixes',
	text: `SELECT api_keys.id, tier, prefix, key_hash, display_key, is_revoked, expires_at, last_used_at,
			api_keys.created_at, organization_id, clerk_org_id, org_key, name, status, plan, entitled_until, contact_email,
			default_domain_id, organizations.created_at AS organization_created_at
		FROM api_keys JOIN organizations ON organizations.id = api_keys.organization_id
		WHERE prefix = ANY ($1::text[])`,
};

/** Keys that somebody notes at this moment have been used anyway. */
const noteUses: Prepared = {
	name: 'note uses of api keys',
	text: `UPDATE api_keys SET last_used_at = used.at
		FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
		WHERE api_keys.id = used.id AND api_keys.id IN (
			SELECT id FROM api_keys WHERE id = ANY ($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
		)`,
};

/** A key and its organization. */
export type OwnedKey = {key: ApiKey; organization: Organization};

/** The statements on API keys, over a pool or a transaction. */
export const createApiKeyStore = (db: Db) => ({
	/** Keys with those prefixes, of any state, each with its organization. */
	findByPrefixes: async (prefixes: readonly string[]): Promise<OwnedKey[]> => {
		const rows = await runPrepared<JoinedRow>(db, byPrefixes, [prefixes]);
		return rows.map((row) => ({
			key: toApiKey(row),
			organization: toOrganization({...row, id: row.organization_id, created_at: row.organization_created_at}),
		}));
	},

	/** The organization's current key of each tier, neither revoked nor superseded. */
	listCurrent: async (organizationId: string): Promise<ApiKey[]> => {
		const rows: Row[] = await db('api_keys').where({
			organization_id: organizationId,
			is_revoked: false,
			expires_at: null,
		});
		return rows.map(toApiKey);
	},

	/** What is kept of the oldest current keys of all organizations, for the operator. */
	listKept: async (limit: number): Promise<string[]> => {
		const rows: Array<Pick<Row, 'display_key'>> = await db('api_keys')
			.where({is_revoked: false, expires_at: null})
			.whereNotNull('display_key')
			.orderBy('created_at')
			.limit(limit)
			.select('display_key');
		return rows.flatMap(({display_key: kept}) => (kept === null ? [] : [kept]));
	},

	/** Adds a current key, or gives null where the tier has one already: the index api_keys_current_key decides. */
	insertCurrent: async (
		key: {organizationId: string; tier: Tier; prefix: string; keyHash: Buffer; displayKey: string},
		now: Date,
	): Promise<ApiKey | null> => {
		const rows: Row[] = await db('api_keys')
			.insert({
				id: randomUUID(),
				organization_id: key.organizationId,
				tier: key.tier,
				prefix: key.prefix,
				key_hash: key.keyHash,
				display_key: key.displayKey,
				created_at: now,
			})
			.onConflict(db.raw('(organization_id, tier) WHERE NOT is_revoked AND expires_at IS NULL'))
			.ignore()
			.returning('*');
		return rows.length === 0 ? null : toApiKey(onlyRow(rows));
	},

	/** Lets the tier's current key run out at `expiresAt`. */
	expireCurrent: (organizationId: string, tier: Tier, expiresAt: Date) =>
		db('api_keys')
			.where({organization_id: organizationId, tier, is_revoked: false, expires_at: null})
			.update({expires_at: expiresAt}),

	/** Revokes every key of the tier that is not revoked yet. */
	revokeAll: (organizationId: string, tier: Tier, now: Date) =>
		db('api_keys')
			.where({organization_id: organizationId, tier, is_revoked: false})
			.update({is_revoked: true, revoked_at: now}),

	noteUses: async (uses: ReadonlyArray<{id: string; at: Date}>): Promise<void> => {
		await runPrepared(db, noteUses, [uses.map(({id}) => id), uses.map(({at}) => at)]);
	},
});
