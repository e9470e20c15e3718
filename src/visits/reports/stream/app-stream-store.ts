import {platformSql} from '../../../platform/app-requests/app-request-store.ts';
import type {Db} from '../../../platform/db/db.ts';
import {type SnapshotRange, writtenBetween} from '../../../platform/db/new-rows.ts';
import {run, type Sql, script, sql} from '../../../platform/db/sql.ts';
import {outcomeWord} from '../../matches/outcome-words.ts';
import {eventFrame} from './click-stream-listener.ts';

/** A request of an app, as `oplink app status --watch` prints it. */
export type AppRequestShown = {
	type: 'session' | 'data' | 'match' | 'event' | 'refusal';
	at: Date;
	platform: 'ios' | 'android' | 'unknown';
	deviceId: string | null;
	appVersion: string | null;
	sdkVersion: string | null;
	text: string;
};

type Row = AppRequestShown & {
	organizationId: string;
	/** Of a match. */
	matched: boolean | null;
	method: string;
	reason: string | null;
};

const MAX_ROWS = 1000;

const platformOf = (...platforms: string[]): Sql => script(`coalesce(${platforms.join(', ')}, 'unknown') AS platform`);

const textOf = ({type, matched, method, reason, text}: Row): string => {
	if (type !== 'match') {
		return text;
	}

	const word = outcomeWord({matched: matched ?? false, method, reason});
	return matched ? `matched by ${word}: ${text}` : `no match: ${word}`;
};

/** The requests of apps of these organizations between two snapshots, oldest first: those watched, matches and events. */
export const readAppRequests = async (
	db: Db,
	organizationIds: readonly string[],
	range: SnapshotRange,
): Promise<Array<AppRequestShown & {organizationId: string}>> => {
	const isWanted = sql`${writtenBetween(range)} AND organization_id = ANY(${organizationIds}::uuid[])`;
	const ofDevice = (row: string) =>
		script(
			`LEFT JOIN devices ON devices.organization_id = ${row}.organization_id AND devices.device_id = ${row}.device_id`,
		);
	const device = script(
		'device_id AS "deviceId", devices.app_version AS "appVersion", devices.sdk_version AS "sdkVersion"',
	);
	const rows = await run<Row>(
		db,
		sql`SELECT organization_id AS "organizationId", at, type, platform, device_id AS "deviceId", app_version AS "appVersion",
			sdk_version AS "sdkVersion", text, NULL::boolean AS matched, '' AS method, NULL AS reason
		FROM app_requests WHERE ${isWanted}
		UNION ALL SELECT found.organization_id, at, 'match', ${platformOf(platformSql("found.signals ->> 'platform'"), platformSql('devices.platform'), 'found.agent_platform')},
			found.${device}, coalesce(links.short_code, 'a deleted link'), matched, method, reason
		FROM (SELECT * FROM match_attempts WHERE ${isWanted}) AS found ${ofDevice('found')}
		LEFT JOIN links ON links.id = found.link_id AND links.organization_id = found.organization_id
		UNION ALL SELECT found.organization_id, received_at, 'event', ${platformOf(platformSql('devices.platform'))},
			found.${device}, event_name, NULL, '', NULL
		FROM (SELECT * FROM events WHERE ${isWanted}) AS found ${ofDevice('found')}
		ORDER BY at LIMIT ${MAX_ROWS}`,
	);
	return rows.map((row) => ({
		organizationId: row.organizationId,
		type: row.type,
		at: row.at,
		platform: row.platform,
		deviceId: row.deviceId,
		appVersion: row.appVersion,
		sdkVersion: row.sdkVersion,
		text: textOf(row),
	}));
};

/** A request as an event of the stream. */
export const appFrame = ({organizationId: _, ...request}: AppRequestShown & {organizationId: string}): string =>
	eventFrame(request.type, request);
