import type {Db} from '../../platform/db/db.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {type DeviceRegistration, deviceRow, insertMatchedDeviceSql} from '../devices/device-store.ts';
import {isLiveSql} from '../visit/resolved-row.ts';
import {type AppData, type AppDataRow, appDataOf, appDataSql} from '../visit/tap-query.ts';
import {insertClaimSql, type RecordedAttempt} from './match-attempt-store.ts';
import type {StoredAnswer} from './match-click-store.ts';
import {clicksOfVisitor} from './match-clicks.ts';

/** A device without its organization and link, which are the attempt's. */
export type AttemptDevice = Pick<DeviceRegistration, 'deviceId' | 'facts' | 'now'>;

/** The records that a match leaves beside its click: the attempt, and the device if the app sent its id. */
export type MatchNotes = {attempt: RecordedAttempt; device: AttemptDevice | null};

/** The link of a claimed click, with the data for its app. */
export type ClaimedLink = {id: string; organizationId: string; data: AppData};

type Claim = StoredAnswer & {device: Buffer; now: Date};

const visitorsClicks = clicksOfVisitor(sql`claimed.visitor`, sql`id, link_id`);

type Row = AppDataRow & {id: string; organization_id: string; query: Record<string, string> | null};

/**
 * Claims an open click of a link that resolves for a device: the one statement that decides between concurrent first
 * opens. A request that waited for the row finds it consumed and claims nothing (contract/match 7). The same visitor's
 * other open clicks on the link are closed with it: no stranger is matched to them (contract/match 6). The organization
 * is locked first, as by every write of its rows.
 */
const claim = (id: string, {device, now, method, confidence, score}: Claim, notes = sql``): Sql => sql`
	WITH live AS MATERIALIZED (
		SELECT links.id, links.organization_id, ${appDataSql}
		FROM match_clicks AS click JOIN links ON links.id = click.link_id CROSS JOIN LATERAL (
			SELECT status FROM organizations WHERE id = links.organization_id FOR KEY SHARE
		) AS organizations LEFT JOIN templates ON templates.id = links.template_id
		LEFT JOIN app_configs ON app_configs.organization_id = links.organization_id
		WHERE click.id = ${id} AND ${isLiveSql(now)}
	), claimed AS (
		UPDATE match_clicks SET consumed_at = ${now}, consumed_by = ${device}, consumed_method = ${method},
			consumed_confidence = ${confidence}, consumed_score = ${score}
		FROM live WHERE match_clicks.id = ${id} AND consumed_at IS NULL AND expires_at > ${now}
		RETURNING match_clicks.id, match_clicks.organization_id, match_clicks.link_id, visitor, query
	), closed AS (
		UPDATE match_clicks AS other SET consumed_at = ${now}
		FROM claimed CROSS JOIN LATERAL (${visitorsClicks}) AS visit
		WHERE other.id = visit.id AND visit.link_id = claimed.link_id AND other.id <> claimed.id
			AND other.consumed_at IS NULL
	)${notes}
	SELECT live.*, query FROM live CROSS JOIN claimed`;

/** Exported for tests of its plan. */
export const claimStatement = (id: string, values: Claim, notes: MatchNotes | null): Sql => {
	if (notes === null) {
		return prepared('claim a click', claim(id, values));
	}

	const device = notes.device === null ? null : JSON.stringify(deviceRow(notes.device));
	const noted = sql`, noted AS (${insertClaimSql(notes.attempt)}), device AS (${insertMatchedDeviceSql(device)})`;
	return prepared('claim a click and note it', claim(id, values, noted));
};

/**
 * @param id of the click. @param notes null: nothing is noted; organization and link are the click's.
 * @returns the link; null if the click is not the device's.
 */
export const claimClick = async (
	db: Db,
	id: string,
	values: Claim,
	notes: MatchNotes | null,
): Promise<ClaimedLink | null> => {
	const [row] = await run<Row>(db, claimStatement(id, values, notes));
	return row === undefined
		? null
		: {id: row.id, organizationId: row.organization_id, data: appDataOf(row, row.query ?? {})};
};
