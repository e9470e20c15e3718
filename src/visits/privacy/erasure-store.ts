import type {Db} from '../../platform/db/db.ts';
import type {ClickStore} from '../clicks/click-store.ts';
import {clearedAttempt} from '../matches/match-attempt-store.ts';
import {clearOwnClicks, matchClicksOfSubject} from '../matches/match-clicks.ts';
import type {SubjectKeys} from './data-subject.ts';
import {DELIVERIES_OF_SUBJECT, IS_ATTEMPT_OF_SUBJECT} from './personal-data-store.ts';

/** How many rows of each kind were about the subject. */
export type Erased = {
	devices: number;
	events: number;
	matchAttempts: number;
	clicks: number;
	/** Absent if there were none. */
	links?: number;
	/** Webhook deliveries; absent if there were none. */
	deliveries?: number;
};

/**
 * Counted rows stay, without personal data, because reports count rows beside the rollups: a click keeps the columns of
 * breakdowns, a match its method, link and time, an event its name, link and time.
 */
export const createErasureStore = (trx: Db, keys: SubjectKeys, stored: Pick<ClickStore, 'statements'>) => {
	const count = async (sql: string): Promise<number> => (await trx.raw<{rowCount: number}>(sql, {...keys})).rowCount;

	return {
		/** Call it first: an event that arrives meanwhile waits for it, and then finds no device. */
		devices: () => count('DELETE FROM devices WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds)'),

		/** Bodies of webhooks about the subject, and what came back. Call it before the rest, by which they are found. */
		deliveries: () =>
			count(`WITH own AS MATERIALIZED (${DELIVERIES_OF_SUBJECT}), answers AS (
					UPDATE delivery_tries SET answer = NULL FROM own WHERE delivery_id = own.id
				)
				UPDATE endpoint_deliveries SET body = NULL, status = CASE status WHEN 'PENDING' THEN 'FAILED' ELSE status END
				FROM own WHERE endpoint_deliveries.id = own.id`),

		/** Call it before `matchAttempts`: the attempts may be the only way to find the clicks. */
		clicks: async (): Promise<number> => {
			const {rows} = await trx.raw<{rows: Array<{forgotten: string}>}>(
				`WITH own AS MATERIALIZED (${matchClicksOfSubject}), plain AS (
					${stored.statements.forget}
				), forgotten AS (${clearOwnClicks}
				)
				SELECT count(*) AS forgotten FROM forgotten`,
				{...keys},
			);
			return Number(rows[0]?.forgotten ?? 0);
		},

		events: () =>
			count(`UPDATE events SET device_id = NULL, event_id = NULL, properties = '{}'
				WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds)`),

		/** Links that the device created: what its app wrote is gone, and they resolve no more. */
		links: () =>
			count(`WITH own AS (
					UPDATE app_links SET device_id = '', content = uuid_send(link_id)
					WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds) RETURNING link_id
				)
				UPDATE links SET title = NULL, params = NULL, path = '/', is_active = false FROM own
				WHERE links.id = own.link_id AND links.organization_id = :organizationId`),

		matchAttempts: () => count(`UPDATE match_attempts SET ${clearedAttempt} WHERE ${IS_ATTEMPT_OF_SUBJECT}`),
	};
};
