import {platformOf} from '../../../platform/app-requests/app-request-store.ts';
import type {Db} from '../../../platform/db/db.ts';
import {type SnapshotRange, writtenBetween} from '../../../platform/db/new-rows.ts';
import {run, script, sql} from '../../../platform/db/sql.ts';
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
	match: {matched: boolean; method: string; reason: string | null} | null;
};

const MAX_ROWS = 1000;

/** A request as an event of the stream. */
const frameOf = ({organizationId, match, ...request}: Row) => {
	const word = match && outcomeWord(match);
	const text =
		match === null ? request.text : match.matched ? `matched by ${word}: ${request.text}` : `no match: ${word}`;
	return {organizationId, frame: eventFrame(request.type, {...request, text})};
};

/** The requests of apps of these organizations between two snapshots, oldest first: those watched, matches and events. */
export const readAppRequests = async (db: Db, organizationIds: readonly string[], range: SnapshotRange) => {
	const isWanted = sql`${writtenBetween(range)} AND organization_id = ANY(${organizationIds}::uuid[])`;
	const ofDevice = script(
		'LEFT JOIN devices ON devices.organization_id = found.organization_id AND devices.device_id = found.device_id',
	);
	const device = script('found.device_id, devices.app_version, devices.sdk_version');
	const rows = await run<Row>(
		db,
		sql`SELECT type, at, platform, device_id AS "deviceId", app_version AS "appVersion", sdk_version AS "sdkVersion", text,
			organization_id AS "organizationId", NULL::json AS match
		FROM app_requests WHERE ${isWanted}
		UNION ALL SELECT 'match', at, ${platformOf("found.signals ->> 'platform'", 'devices.platform', 'found.agent_platform')},
			${device}, coalesce(links.short_code, 'a deleted link'), found.organization_id,
			json_build_object('matched', matched, 'method', method, 'reason', reason)
		FROM (SELECT * FROM match_attempts WHERE ${isWanted}) AS found ${ofDevice}
		LEFT JOIN links ON links.id = found.link_id AND links.organization_id = found.organization_id
		UNION ALL SELECT 'event', received_at, ${platformOf('devices.platform')}, ${device}, event_name,
			found.organization_id, NULL
		FROM (SELECT * FROM events WHERE ${isWanted}) AS found ${ofDevice}
		ORDER BY at LIMIT ${MAX_ROWS}`,
	);
	return rows.map(frameOf);
};
