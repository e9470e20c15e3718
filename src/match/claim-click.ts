import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {type DeviceRegistration, deviceRow, insertDeviceSql} from '../devices/device-store.ts';
import {isLiveSql} from '../resolution/resolve-link.ts';
import {attemptRow, insertAttemptSql, type RecordedAttempt} from './match-attempt-store.ts';
import type {GivenAnswer, MatchClick} from './match-click-store.ts';

/** What is kept of a match beside the click: the attempt, and the device where the app named it. */
export type MatchNotes = {attempt: RecordedAttempt; device: DeviceRegistration | null};

/** What a matched app is told of its link. */
export type ClaimedLink = {id: string; path: string; params: Record<string, string>};

type Row = {
	path: string | null;
	template_path: string | null;
	params: Record<string, string> | null;
	template_params: Record<string, string> | null;
};

/**
 * Takes an open click of a link that resolves for a device: the one statement that decides between any number of first
 * opens. One that waited for another's row sees it consumed and gets nothing (contract/match 7). With it goes what else
 * the same visitor left open on the link, so that no stranger is matched to it (contract/match 6).
 *
 * The organization is locked first, as everybody does who writes below it.
 */
const claim = (notes = ''): string => `
	WITH live AS MATERIALIZED (
		SELECT links.path, links.params, templates.path AS template_path, templates.params AS template_params
		FROM links CROSS JOIN LATERAL (
			SELECT status FROM organizations WHERE id = links.organization_id FOR KEY SHARE
		) AS organizations LEFT JOIN templates ON templates.id = links.template_id
		WHERE links.id = $2 AND ${isLiveSql('$3')}
	), claimed AS (
		UPDATE match_clicks
		SET consumed_at = $3, consumed_by = $4, consumed_method = $5, consumed_confidence = $6, consumed_score = $7
		FROM live WHERE id = $1 AND consumed_at IS NULL AND expires_at > $3
		RETURNING id, link_id, visitor
	), closed AS (
		UPDATE match_clicks AS other SET consumed_at = $3 FROM claimed
		WHERE other.link_id = claimed.link_id AND other.visitor = claimed.visitor AND other.id <> claimed.id
			AND other.consumed_at IS NULL
	)${notes}
	SELECT path, params, template_path, template_params FROM live WHERE EXISTS (SELECT FROM claimed)`;

const statements = {
	alone: {name: 'claim a click', text: claim()},
	noted: {
		name: 'claim a click and note it',
		text: claim(`, noted AS (
		${insertAttemptSql('$8', 'WHERE EXISTS (SELECT FROM claimed)')}
	), device AS (
		${insertDeviceSql('$9', 'WHERE CAST($9 AS json) IS NOT NULL AND EXISTS (SELECT FROM claimed)')}
	)`),
	},
} satisfies Record<string, Prepared>;

/** @param notes null: nothing is noted. @returns the link; null where the click is not the device's. */
export const claimClick = async (
	db: Db,
	{id, linkId}: Pick<MatchClick, 'id' | 'linkId'>,
	{device, now, method, confidence, score}: GivenAnswer & {device: Buffer; now: Date},
	notes: MatchNotes | null,
): Promise<ClaimedLink | null> => {
	const noted =
		notes === null
			? []
			: [
					JSON.stringify(attemptRow(notes.attempt)),
					notes.device === null ? null : JSON.stringify(deviceRow(notes.device)),
				];
	const [row] = await runPrepared<Row>(db, notes === null ? statements.alone : statements.noted, [
		id,
		linkId,
		now,
		device,
		method,
		confidence,
		score,
		...noted,
	]);
	return row === undefined
		? null
		: {id: linkId, path: row.path ?? row.template_path ?? '/', params: {...row.template_params, ...row.params}};
};
