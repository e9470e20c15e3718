import {createHash, randomUUID} from 'node:crypto';
import type {ToldSignals} from '../match/match-signals.ts';
import type {NetworkKeys} from '../match/network-keys.ts';
import {randomAlphanumeric} from '../organizations/org-key.ts';

/** What lets an app's first open claim a click. */
export type OpenMatch = {
	/** The one-time token that the page carries. */
	token: string;
	windowHours: number;
	network: NetworkKeys;
	signals: ToldSignals;
	/** Who visits, by the hash of the cookie; null where there is none. `isReturning`: the cookie was there before. */
	visitor: {hash: Buffer; isReturning: boolean} | null;
};

/** A new match token: `opl_` and 32 of `[A-Za-z0-9]`, 190 bits (decisions 6). */
export const mintMatchToken = (): string => `opl_${randomAlphanumeric(32)}`;

/** What a token is found by. 190 random bits need no salt. */
export const hashMatchToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** A second visit of the same link within this time is the same visit (facts 4.6). */
export const SAME_VISIT_MS = 10 * 60 * 1000;

/** What the headers of a visit say; a later visit that says less than the page's signals did leaves those. */
export const signalColumns = [
	'platform',
	'os_major',
	'os_minor',
	'os_patch',
	'os_precision',
	'device_model',
	'language',
	'timezone',
];
const otherColumns = ['click_id', 'token_hash', 'ip_key', 'net_key', 'created_at', 'expires_at'];

type Value = string | number | Date | Buffer | null;
export type Cte = {name: string; sql: string; bindings: Value[]};

/**
 * The parts of the click's own statement that open its match: a new row, or, where the visitor's cookie says that this
 * is the same visit, the row of that visit with a new token.
 */
export const openMatchParts = (
	{token, windowHours, network, signals, visitor}: OpenMatch,
	click: {id: string; organizationId: string; linkId: string; at: Date},
): Cte[] => {
	const {platform, osVersion, deviceModel, language, timezone} = signals;
	const told: Value[] = [
		platform,
		osVersion?.major ?? null,
		osVersion?.minor ?? null,
		osVersion?.patch ?? null,
		osVersion?.precision ?? null,
		deviceModel,
		language,
		timezone,
	];
	const others: Value[] = [
		click.id,
		hashMatchToken(token),
		network.ipKey,
		network.netKey,
		click.at,
		new Date(click.at.getTime() + windowHours * 3_600_000),
	];
	const columns = ['id', 'organization_id', 'link_id', 'visitor', ...signalColumns, ...otherColumns];
	const insert = `INSERT INTO match_clicks (${columns.join(', ')}) SELECT ${columns.map(() => '?').join(', ')}`;
	const values = [randomUUID(), click.organizationId, click.linkId, visitor?.hash ?? null, ...told, ...others];
	if (visitor === null || !visitor.isReturning) {
		return [{name: 'opened', sql: insert, bindings: values}];
	}

	const changes = [
		...signalColumns.map((column) => `${column} = coalesce(?, match_clicks.${column})`),
		...otherColumns.map((column) => `${column} = ?`),
		'signals_at = NULL',
	];
	return [
		{
			name: 'reopened',
			sql: `UPDATE match_clicks SET ${changes.join(', ')} WHERE consumed_at IS NULL AND id = (
				SELECT id FROM match_clicks
				WHERE link_id = ? AND visitor = ? AND consumed_at IS NULL AND NOT forgotten AND created_at > ?
				ORDER BY created_at DESC LIMIT 1) RETURNING id`,
			bindings: [...told, ...others, click.linkId, visitor.hash, new Date(click.at.getTime() - SAME_VISIT_MS)],
		},
		{name: 'opened', sql: `${insert} WHERE NOT EXISTS (SELECT FROM reopened)`, bindings: values},
	];
};
