import {randomUUID} from 'node:crypto';
import type {Client} from 'pg';
import {hashRawKey, mintRawKey, prefixOf} from '../../src/accounts/api-keys/api-key.ts';

/** An organization without quotas, with an app and both keys. */
export type SeededOrganization = {id: string; orgKey: string; serverKey: string; clientKey: string};

const IOS = {bundleId: 'com.example.demo', teamId: 'ABCDE12345', appStoreId: '123456789', scheme: 'oplinkdemo'};
const ANDROID = [{packageName: 'com.example.demo', sha256Fingerprints: [], scheme: 'oplinkdemo'}];

/** Writes organizations, each with a device `device-N` of its own. */
export const seedOrganizations = async (client: Client, count: number): Promise<SeededOrganization[]> => {
	const organizations = Array.from({length: count}, (_, n) => ({
		id: randomUUID(),
		orgKey: `B${n.toString(36).padStart(3, '0')}`,
		serverKey: mintRawKey('SERVER'),
		clientKey: mintRawKey('CLIENT'),
	}));
	const ids = organizations.map(({id}) => id);
	await client.query(
		`INSERT INTO organizations (id, org_key, name, plan, created_at, updated_at)
		SELECT id, key, 'Bench ' || key, 'ENTERPRISE', now(), now() FROM unnest($1::uuid[], $2::text[]) AS o (id, key)`,
		[ids, organizations.map(({orgKey}) => orgKey)],
	);
	await client.query(
		`INSERT INTO app_configs (organization_id, ios, android, probabilistic_matching, minimum_confidence, created_at, updated_at)
		SELECT id, $2::jsonb, $3::jsonb, true, 'low', now(), now() FROM unnest($1::uuid[]) AS o (id)`,
		[ids, JSON.stringify(IOS), JSON.stringify(ANDROID)],
	);
	for (const [tier, field] of [
		['SERVER', 'serverKey'],
		['CLIENT', 'clientKey'],
	] as const) {
		const keys = organizations.map((organization) => organization[field]);
		await client.query(
			`INSERT INTO api_keys (id, organization_id, tier, prefix, key_hash, display_key, created_at)
			SELECT gen_random_uuid(), o, $2, prefix, hash, key, now()
			FROM unnest($1::uuid[], $3::text[], $4::bytea[], $5::text[]) AS k (o, prefix, hash, key)`,
			[ids, tier, keys.map(prefixOf), keys.map(hashRawKey), keys],
		);
	}

	await client.query(
		`INSERT INTO devices (id, organization_id, device_id, first_seen_at, last_seen_at)
		SELECT gen_random_uuid(), id, 'device-0001', now(), now() FROM unnest($1::uuid[]) AS o (id)`,
		[ids],
	);
	return organizations;
};

/** Short code of the n-th link, from 1. */
export const codeOf = (n: number): string => `c${n}`;

/**
 * Writes links `c1` to `cN`, as triggers and foreign keys would have them, but without either, which take hours for
 * millions; and in the order of their ids, as ten million entries at random places of an index take long as well.
 */
export const seedLinks = async (client: Client, {id}: SeededOrganization, count: number): Promise<void> => {
	await client.query('BEGIN');
	await client.query('SET LOCAL session_replication_role = replica');
	await client.query(
		`INSERT INTO links (id, organization_id, domain_id, short_code, path, params, title, og_title, og_description,
			is_active, created_at, updated_at)
		SELECT CAST(lpad(to_hex(n * 429::bigint), 8, '0') || substr(md5('l' || n), 9) AS uuid), CAST($1 AS uuid), domains.id, 'c' || n, '/product/' || n, '{"from": "bench"}', 'Link ' || n,
			'Link ' || n, 'A deep link that you host yourself.', true, now(), now()
		FROM generate_series(1, CAST($2 AS int)) AS n, domains WHERE domains.organization_id IS NULL`,
		[id, count],
	);
	await client.query('INSERT INTO link_counts (organization_id, links) VALUES ($1, $2)', [id, count]);
	await client.query('COMMIT');
	await client.query('VACUUM ANALYZE links');
};
