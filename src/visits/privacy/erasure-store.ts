import type {Db} from '../../platform/db/db.ts';
import {execute, run, type Sql, sql} from '../../platform/db/sql.ts';
import {clearedAttempt} from '../matches/match-attempt-store.ts';
import {clearOwnClicks, matchClicksOfSubject, type SubjectKeys} from '../matches/match-clicks.ts';
import type {ClickStore} from '../reports/click-store.ts';
import {deliveriesOfSubject, isOfSubject} from './personal-data-store.ts';

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
	const {organizationId, deviceIds} = keys;
	const own = sql`organization_id = ${organizationId} AND device_id = ANY(${deviceIds})`;
	const count = (statement: Sql) => execute(trx, statement);

	return {
		/** Call it first: an event that arrives meanwhile waits for it, and then finds no device. */
		devices: () => count(sql`WITH shown AS (DELETE FROM app_requests WHERE ${own}) DELETE FROM devices WHERE ${own}`),

		/** Bodies of webhooks about the subject, and their responses. Call it first: the other rows find them. */
		deliveries: () =>
			count(sql`WITH own AS MATERIALIZED (${deliveriesOfSubject(keys)}), answers AS (
					UPDATE delivery_tries SET answer = NULL FROM own WHERE delivery_id = own.id
				)
				UPDATE endpoint_deliveries SET body = NULL, status = CASE status WHEN 'PENDING' THEN 'FAILED' ELSE status END
				FROM own WHERE endpoint_deliveries.id = own.id`),

		/** Call it before `matchAttempts`: the attempts may be the only way to find the clicks. */
		clicks: async (): Promise<number> => {
			const rows = await run<{forgotten: string}>(
				trx,
				sql`WITH own AS MATERIALIZED (${matchClicksOfSubject(keys)}), plain AS (
					${stored.statements.forget}
				), forgotten AS (${clearOwnClicks}
				)
				SELECT count(*) AS forgotten FROM forgotten`,
			);
			return Number(rows[0]?.forgotten ?? 0);
		},

		events: () =>
			count(sql`UPDATE events SET device_id = NULL, event_id = NULL, properties = '{}'
				WHERE ${own}`),

		/** Links that the device created: their texts are cleared, and they no longer resolve. */
		links: () =>
			count(sql`WITH own AS (
					UPDATE app_links SET device_id = '', content = uuid_send(link_id)
					WHERE ${own} RETURNING link_id
				)
				UPDATE links SET title = NULL, params = NULL, path = '/', is_active = false FROM own
				WHERE links.id = own.link_id AND links.organization_id = ${organizationId}`),

		matchAttempts: () => count(sql`UPDATE match_attempts SET ${clearedAttempt} WHERE ${isOfSubject(keys)}`),
	};
};
