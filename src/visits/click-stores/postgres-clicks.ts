import {sql} from '../../platform/db/sql.ts';
import {clicksInFull, occurredWithin} from '../clicks/click-sql.ts';
import type {ClickStore} from '../reports/click-store.ts';
import {postgresReader} from '../reports/rollups/rows-beside-rollups.ts';
import {type RecentClicks, readRecent, sinceThen} from '../reports/stream/click-stream-recent.ts';
import {readBetween, readLatest} from '../reports/stream/click-stream-store.ts';
import {dropOldClicks} from './drop-old-clicks.ts';

const recentClicks: RecentClicks = {
	since: async (_, own, {since}) =>
		sql`(SELECT occurred_at, platform, organization_id, link_id, bot_class IS NOT NULL AS is_bot, 1 AS count
			FROM ${sinceThen(sql`${clicksInFull} AS clicks`, occurredWithin('organization', since), own)})`,
	latest: (trx, wanted) => readLatest(trx, wanted),
};

/** Raw clicks in PostgreSQL, beside everything else. */
export const postgresClicks: ClickStore = {
	reader: async () => postgresReader,
	stream: {
		recent: (db, organizationId, now) => readRecent(db, organizationId, now, recentClicks),
		between: readBetween,
	},
	exported: null,
	inFull: async () => clicksInFull,
	statements: {
		addSignals: (timezone) => sql`UPDATE clicks SET context_id = keep_click_context(occurred_at,
				coalesce(known.platform, updated.platform), os, os_version, browser, device_model, language,
				coalesce(${timezone}, timezone), country, bot_class, host)
			FROM updated, click_contexts AS known
			WHERE clicks.id = updated.click_id AND clicks.occurred_at = updated.created_at AND known.id = context_id
				AND (coalesce(${timezone}, timezone), coalesce(known.platform, updated.platform))
					IS DISTINCT FROM (timezone, known.platform)`,
		forget: sql`UPDATE clicks SET context_id =
				keep_click_context(occurred_at, context.platform, NULL, NULL, NULL, NULL, NULL, NULL, context.country, context.bot_class,
					context.host)
			FROM own, click_contexts AS context WHERE clicks.id = own.click_id AND clicks.occurred_at = own.created_at
				AND context.id = context_id`,
		removeOrganization: (id) => sql`DELETE FROM clicks WHERE organization_id = ${id}`,
	},
	applyChanges: async () => {},
	dropOld: dropOldClicks,
	ping: null,
};
