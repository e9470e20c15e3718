import {type Db, inTransaction} from '../../platform/db/db.ts';
import {apiKeyNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {type Caller, entriesOf, recordAudit} from '../audit/audit-log.ts';
import {CLIENT_GRACE_HOURS, hashRawKey, mintRawKey, prefixOf, type Tier} from './api-key.ts';
import {type ApiKey, createApiKeyStore} from './api-key-store.ts';
import type {DisplayKeyCipher} from './display-key-cipher.ts';

/**
 * A key card (contract/api-keys 5). `displayKey` is the raw key; null for legacy rows, and, with `displayKeyFault`,
 * for keys that were encrypted with another secret.
 */
const keyCard = (cipher: DisplayKeyCipher, key: ApiKey) => {
	const displayKey = cipher.open(key.displayKey);
	return {
		id: key.id,
		tier: key.tier,
		prefix: key.prefix,
		displayKey,
		...(key.displayKey !== null && displayKey === null ? {displayKeyFault: 'OTHER_SECRET' as const} : {}),
		createdAt: key.createdAt,
		expiresAt: key.expiresAt,
		lastUsedAt: key.lastUsedAt,
	};
};

const entry = entriesOf('ApiKey');

export type KeyDeps = Pick<Services, 'clock' | 'db' | 'keyCipher'>;

const insertNewKey = async (
	{keyCipher, clock}: KeyDeps,
	db: Db,
	organizationId: string,
	tier: Tier,
): Promise<{key: ApiKey; rawKey: string} | null> => {
	const rawKey = mintRawKey(tier);
	const key = await createApiKeyStore(db).insertCurrent(
		{organizationId, tier, prefix: prefixOf(rawKey), keyHash: hashRawKey(rawKey), displayKey: keyCipher.seal(rawKey)},
		clock.now(),
	);
	return key === null ? null : {key, rawKey};
};

/**
 * Both key cards; a tier without a current key gets one, even if two callers ask for the first time at once.
 * @returns `{sdkKey, serverKey, locked: false}`; the caller decides whether the plan locks them.
 */
export const provisionedKeyCards = async (services: KeyDeps, organization: {id: string}) => {
	const store = createApiKeyStore(services.db);
	let keys = await store.listCurrent(organization.id);
	if (keys.length < 2) {
		await inTransaction(services.db, async (trx) => {
			// Locked first, as by every write below it: a rotation holds it, and waits for a key that is being inserted.
			await trx('organizations').where({id: organization.id}).forKeyShare().select('id');
			await insertNewKey(services, trx, organization.id, 'CLIENT');
			await insertNewKey(services, trx, organization.id, 'SERVER');
		});
		keys = await store.listCurrent(organization.id);
	}

	const card = (tier: Tier) => {
		const key = keys.find((one) => one.tier === tier);
		return key === undefined ? null : keyCard(services.keyCipher, key);
	};
	return {sdkKey: card('CLIENT'), serverKey: card('SERVER'), locked: false};
};

/**
 * Replaces the tier's key: a CLIENT key keeps working for the grace period, a SERVER key ends at once
 * (contract/api-keys 3).
 * @returns the new key card and `rawKey`.
 */
export const regenerateApiKey = (
	services: KeyDeps,
	{organization, tier, by}: {organization: {id: string}; tier: Tier; by: Caller},
) =>
	inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		const store = createApiKeyStore(trx);
		// Concurrent rotations take turns: neither leaves the other's new key current.
		await trx('organizations').where({id: organization.id}).forUpdate().select('id');
		if (tier === 'CLIENT') {
			await store.expireCurrent(organization.id, tier, new Date(now.getTime() + CLIENT_GRACE_HOURS * 3_600_000));
		} else {
			await store.revokeAll(organization.id, tier, now);
		}

		const created = await insertNewKey(services, trx, organization.id, tier);
		if (created === null) {
			throw new Error('another current key exists');
		}

		const {id, prefix} = created.key;
		await recordAudit(trx, now, by, entry('REGENERATE', {id, organizationId: organization.id}, {tier, prefix}));
		return {...keyCard(services.keyCipher, created.key), rawKey: created.rawKey};
	});

/** Both key cards and the earlier keys that are still accepted, for the operator. */
export const allKeyCards = async (services: KeyDeps, organization: {id: string}) => {
	const cards = await provisionedKeyCards(services, organization);
	const earlier = await createApiKeyStore(services.db).listEarlier(organization.id, services.clock.now());
	return {...cards, earlier: earlier.map((key) => keyCard(services.keyCipher, key))};
};

/** Ends a key at once, without its grace period. A tier without a key gets one when its cards are read next. @throws 404. */
export const revokeApiKey = (
	{db, clock}: KeyDeps,
	{organization, id, by}: {organization: {id: string}; id: string; by: Caller},
) =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const revoked = required(await createApiKeyStore(trx).revoke(organization.id, id, now), apiKeyNotFound);
		await recordAudit(trx, now, by, entry('REVOKE', {id, organizationId: organization.id}, revoked));
		return {id, deleted: true};
	});
