import {identifier, joined, type Sql, sql} from '../../platform/db/sql.ts';
import {campaigns} from '../visit/click-context.ts';

const utmColumns = joined(
	Object.entries(campaigns.words)
		.filter(([name]) => name !== 'channel')
		.map(([name, column]) => sql`${identifier(`clicks.${column}`)} AS ${identifier(name)}`),
);

/**
 * Joined with the click's own row, if its month has not been dropped. `id` is that of the open match. Addresses,
 * cookies and device ids are stored only as hashes.
 * @param own a SELECT of open matches. @param stored an item of a FROM: the clicks in full.
 */
export const clicksOfSubject = (
	own: Sql,
	stored: Sql,
): Sql => sql`SELECT own.id, own.click_id AS "clickId", own.created_at AS "clickedAt",
		own.link_id AS "linkId", clicks.channel, own.platform, clicks.os, clicks.os_version AS "osVersion", clicks.browser,
		clicks.device_model AS "deviceModel", clicks.language, clicks.timezone, clicks.referrer_host AS "referrerHost",
		clicks.country, ${utmColumns}, own.device_model AS "signalDeviceModel", own.language AS "signalLanguage",
		own.timezone AS "signalTimezone", own.signals_at AS "signalsAt", encode(own.ip_key, 'hex') AS "addressHash",
		encode(own.net_key, 'hex') AS "networkHash", encode(own.visitor, 'hex') AS "visitorHash",
		encode(own.consumed_by, 'hex') AS "deviceHash", own.expires_at AS "matchableUntil",
		own.consumed_at AS "claimedAt", own.consumed_method AS "matchMethod",
		own.consumed_confidence AS "matchConfidence", own.consumed_score AS score, own.query
	FROM (${own}) AS own
	LEFT JOIN ${stored} AS clicks ON clicks.id = own.click_id AND clicks.occurred_at = own.created_at`;

/** The columns that the answer puts elsewhere. */
export type PersonalClickRow = {
	id: string;
	query: Record<string, string> | null;
	signalDeviceModel: string | null;
	signalLanguage: string | null;
	signalTimezone: string | null;
	signalsAt: Date | null;
};

/**
 * The click in the answer, with the page's signals for the match until they are deleted, and with them the query of the
 * visit if it had one.
 */
export const personalClickJson = ({
	signalDeviceModel: deviceModel,
	signalLanguage: language,
	signalTimezone: timezone,
	signalsAt: at,
	query,
	...click
}: PersonalClickRow) => ({
	...click,
	signals: {deviceModel, language, timezone, at},
	...(query && {query}),
});
