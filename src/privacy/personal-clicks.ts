import {clicksInFull} from '../clicks/click-context.ts';

/**
 * The match clicks that a subject's devices claimed, and what the same browser left beside them. A day after a match the
 * device's hash is gone (`match/forget-matches.ts`), in two weeks its secret; then its attempt, which was made at the
 * same moment, leads there.
 */
export const matchClicksOfSubject = `WITH claimed AS (
		SELECT id, visitor FROM match_clicks
		WHERE organization_id = :organizationId AND consumed_by = ANY(:deviceKeys)
		UNION
		SELECT match_clicks.id, match_clicks.visitor FROM match_attempts JOIN match_clicks
			ON match_clicks.link_id = match_attempts.link_id AND match_clicks.consumed_at = match_attempts.at
			AND match_clicks.forgotten IN (false, true) AND match_clicks.consumed_method = match_attempts.method
		WHERE match_attempts.organization_id = :organizationId AND match_attempts.device_id = ANY(:deviceIds)
			AND match_attempts.matched AND match_clicks.organization_id = :organizationId
	)
	SELECT * FROM match_clicks WHERE organization_id = :organizationId
		AND (id IN (SELECT id FROM claimed) OR visitor IN (SELECT visitor FROM claimed WHERE visitor IS NOT NULL))`;

/** With what the click's own row says; that may be of a month whose clicks have been dropped. */
export const clicksOfSubject = `SELECT own.*, clicks.channel, clicks.os, clicks.os_version, clicks.browser,
		clicks.device_model AS click_device_model, clicks.language AS click_language, clicks.timezone AS click_timezone,
		clicks.referrer_host, clicks.country
	FROM (${matchClicksOfSubject}) AS own
	LEFT JOIN ${clicksInFull} AS clicks ON clicks.id = own.click_id AND clicks.occurred_at = own.created_at`;

export type PersonalClickRow = {
	id: string;
	click_id: string;
	link_id: string;
	created_at: Date;
	expires_at: Date;
	platform: string | null;
	os: string | null;
	os_version: string | null;
	browser: string | null;
	channel: string | null;
	referrer_host: string | null;
	country: string | null;
	click_device_model: string | null;
	click_language: string | null;
	click_timezone: string | null;
	device_model: string | null;
	language: string | null;
	timezone: string | null;
	signals_at: Date | null;
	ip_key: Buffer | null;
	net_key: Buffer | null;
	visitor: Buffer | null;
	consumed_by: Buffer | null;
	consumed_at: Date | null;
	consumed_method: string | null;
	consumed_confidence: string | null;
	consumed_score: number | null;
};

const hex = (hash: Buffer | null): string | null => hash?.toString('hex') ?? null;

/** `id` is that of the open match, `clickId` the click's. Addresses, cookies and device ids are stored as hashes alone. */
export const personalClickJson = (row: PersonalClickRow) => ({
	id: row.id,
	clickId: row.click_id,
	clickedAt: row.created_at,
	linkId: row.link_id,
	channel: row.channel,
	platform: row.platform,
	os: row.os,
	osVersion: row.os_version,
	browser: row.browser,
	deviceModel: row.click_device_model,
	language: row.click_language,
	timezone: row.click_timezone,
	referrerHost: row.referrer_host,
	country: row.country,
	/** What the page told for the match, until it is forgotten. */
	signals: {deviceModel: row.device_model, language: row.language, timezone: row.timezone, at: row.signals_at},
	addressHash: hex(row.ip_key),
	networkHash: hex(row.net_key),
	visitorHash: hex(row.visitor),
	deviceHash: hex(row.consumed_by),
	matchableUntil: row.expires_at,
	claimedAt: row.consumed_at,
	matchMethod: row.consumed_method,
	matchConfidence: row.consumed_confidence,
	score: row.consumed_score,
});
export type PersonalClick = ReturnType<typeof personalClickJson>;
