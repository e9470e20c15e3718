import type {Confidence} from '../app-config/app-config.ts';
import type {Db} from '../db/db.ts';
import type {MatchRules} from './candidate.ts';
import type {MatchMethod} from './match-policy.ts';
import {type MatchSignals, normalise, type Platform} from './match-signals.ts';

/** An answer that was given, as far as the click keeps it. */
export type GivenAnswer = {method: MatchMethod; confidence: Confidence; score: number | null};

/** A click that is or was open to a match. */
export type MatchClick = {
	id: string;
	organizationId: string;
	linkId: string;
	clickedAt: Date;
	expiresAt: Date;
	signals: MatchSignals;
	rules: MatchRules;
	consumedAt: Date | null;
	/** Keyed hash of the device; null where the click is open, or was closed without an answer. */
	consumedBy: Buffer | null;
	answer: GivenAnswer | null;
	visitor: Buffer | null;
	ipKey: Buffer | null;
	netKey: Buffer | null;
};

type Row = {
	id: string;
	organization_id: string;
	link_id: string;
	created_at: Date;
	expires_at: Date;
	platform: Platform | null;
	os_major: number | null;
	os_minor: number | null;
	os_patch: number | null;
	os_precision: 'patch' | 'minor' | 'major' | null;
	device_model: string | null;
	language: string | null;
	timezone: string | null;
	consumed_at: Date | null;
	consumed_by: Buffer | null;
	consumed_method: MatchMethod | null;
	consumed_confidence: Confidence | null;
	consumed_score: number | null;
	visitor: Buffer | null;
	ip_key: Buffer | null;
	net_key: Buffer | null;
	probabilistic_matching: boolean;
	minimum_confidence: Confidence;
};

const toMatchClick = (row: Row): MatchClick => ({
	id: row.id,
	organizationId: row.organization_id,
	linkId: row.link_id,
	clickedAt: row.created_at,
	expiresAt: row.expires_at,
	signals: normalise({
		platform: row.platform,
		osVersion:
			row.os_major === null || row.os_precision === null
				? null
				: {major: row.os_major, minor: row.os_minor, patch: row.os_patch, precision: row.os_precision},
		deviceModel: row.device_model,
		language: row.language,
		timezone: row.timezone,
	}),
	rules: {probabilisticMatching: row.probabilistic_matching, minimumConfidence: row.minimum_confidence},
	consumedAt: row.consumed_at,
	consumedBy: row.consumed_by,
	answer:
		row.consumed_method === null || row.consumed_confidence === null
			? null
			: {method: row.consumed_method, confidence: row.consumed_confidence, score: row.consumed_score},
	visitor: row.visitor,
	ipKey: row.ip_key,
	netKey: row.net_key,
});

/** The click with its organization's rules; the defaults are those of an app configuration. */
const withRules = (source: string, tail = '') => `
	SELECT click.*, coalesce(app_configs.probabilistic_matching, true) AS probabilistic_matching,
		coalesce(app_configs.minimum_confidence, 'low') AS minimum_confidence
	FROM ${source} LEFT JOIN app_configs ON app_configs.organization_id = click.organization_id ${tail}`;

const select = async (db: Db, sql: string, bindings: Array<string | number | Date | Buffer | Buffer[]>) => {
	const {rows} = await db.raw<{rows: Row[]}>(sql, bindings);
	return rows.map(toMatchClick);
};

/** The clicks of tokens, by their SHA-256, whatever has become of them. */
export const findByTokens = (db: Db, hashes: Buffer[]): Promise<Array<MatchClick & {tokenHash: Buffer}>> =>
	db
		.raw<{rows: Array<Row & {token_hash: Buffer}>}>(withRules('match_clicks AS click', 'WHERE token_hash = ANY(?)'), [
			hashes,
		])
		.then(({rows}) => rows.map((row) => ({...toMatchClick(row), tokenHash: row.token_hash})));

/** Where to look for clicks: near one of these keys, and within one organization where it is given. */
export type Neighbourhood = {
	key: 'ip_key' | 'net_key';
	/** The place under each pepper that is in use. */
	keys: Buffer[];
	organizationId: string | null;
	since?: Date;
	limit: number;
};

/** The newest open clicks near an address: one index scan per key (facts 4.3). */
export const findOpenNear = (
	db: Db,
	{key, keys, organizationId, since, limit}: Neighbourhood,
): Promise<MatchClick[]> => {
	const conditions = [
		`${key} = place.key AND consumed_at IS NULL`,
		...(organizationId === null ? [] : ['organization_id = ?']),
		...(since === undefined ? [] : ['created_at >= ?']),
	];
	const nearest = `SELECT * FROM match_clicks WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC LIMIT ?`;
	return select(
		db,
		withRules(
			`unnest(CAST(? AS bytea[])) AS place (key) CROSS JOIN LATERAL (${nearest}) AS click`,
			'ORDER BY click.created_at DESC LIMIT ?',
		),
		[keys, ...(organizationId === null ? [] : [organizationId]), ...(since === undefined ? [] : [since]), limit, limit],
	);
};

/** How many open clicks the address has had since then, of all organizations, counted as far as `limit`. */
export const countOpenNear = async (db: Db, keys: Buffer[], since: Date, limit: number): Promise<number> => {
	const {rows} = await db.raw<{rows: Array<{count: number}>}>(
		`SELECT CAST(count(*) AS integer) AS count FROM unnest(CAST(? AS bytea[])) AS place (key) CROSS JOIN LATERAL (
			SELECT FROM match_clicks WHERE ip_key = place.key AND consumed_at IS NULL AND created_at >= ?
			ORDER BY created_at DESC LIMIT ?) AS click`,
		[keys, since, limit],
	);
	return rows[0]?.count ?? 0;
};

/** The clicks of the address that were matched since then, the last ones first: what a miss is explained by. */
export const findConsumedNear = (
	db: Db,
	{keys, organizationId, since, limit}: Omit<Neighbourhood, 'key'> & {since: Date},
): Promise<MatchClick[]> =>
	select(
		db,
		withRules(
			`unnest(CAST(? AS bytea[])) AS place (key) CROSS JOIN LATERAL (
				SELECT * FROM match_clicks WHERE ip_key = place.key AND consumed_at >= ?
				${organizationId === null ? '' : 'AND organization_id = ?'} ORDER BY consumed_at DESC LIMIT ?) AS click`,
		),
		[keys, since, ...(organizationId === null ? [] : [organizationId]), limit],
	);

/** The click that the device was matched to after `since`, or null. */
export const findConsumedBy = async (db: Db, devices: Buffer[], since: Date): Promise<MatchClick | null> => {
	const [click] = await select(
		db,
		withRules(
			'match_clicks AS click',
			'WHERE consumed_by = ANY(?) AND consumed_at > ? ORDER BY consumed_at DESC LIMIT 1',
		),
		[devices, since],
	);
	return click ?? null;
};

/**
 * Takes an open click for a device: the one statement that decides between any number of first opens. One that waited
 * for another's row sees it consumed and gets nothing (facts 4.7).
 * @returns whether the click is the device's now.
 */
export const claimClick = async (
	db: Db,
	id: string,
	{device, now, method, confidence, score}: GivenAnswer & {device: Buffer; now: Date},
): Promise<boolean> => {
	const {rowCount} = await db.raw<{rowCount: number}>(
		`UPDATE match_clicks
		SET consumed_at = ?, consumed_by = ?, consumed_method = ?, consumed_confidence = ?, consumed_score = ?
		WHERE id = ? AND consumed_at IS NULL AND expires_at > ?`,
		[now, device, method, confidence, score, id, now],
	);
	return rowCount === 1;
};

/** Closes what else the same visitor left open on the link, so that no stranger is matched to it (facts 4.6). */
export const closeOthersOf = async (db: Db, {id, linkId, visitor}: MatchClick, now: Date): Promise<void> => {
	if (visitor !== null) {
		await db.raw(
			'UPDATE match_clicks SET consumed_at = ? WHERE link_id = ? AND visitor = ? AND id <> ? AND consumed_at IS NULL',
			[now, linkId, visitor, id],
		);
	}
};
