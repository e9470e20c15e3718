import {sql} from '../../platform/db/sql.ts';
import {addSignalsSql} from '../matches/match-clicks.ts';
import {postgresReader} from '../reports/rollups/rows-beside-rollups.ts';
import {type RecentClicks, readRecent, sinceThen} from '../reports/stream/click-stream-recent.ts';
import {readBetween, readLatest} from '../reports/stream/click-stream-store.ts';
import {clicksInFull} from './click-context.ts';
import type {ClickStore} from './click-store.ts';
import {occurredWithin} from './click-times.ts';
import {dropOldClicks} from './drop-old-clicks.ts';

const recentClicks: RecentClicks = {
	since: async (_, own) => ({
		sql: `(SELECT occurred_at, platform, organization_id, link_id, bot_class IS NOT NULL AS is_bot, 1 AS count
			FROM ${sinceThen(`${clicksInFull} AS clicks`, occurredWithin('organization', ':since'), own)})`,
		bindings: {},
	}),
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
	inFull: async () => ({sql: clicksInFull, bindings: {}}),
	statements: {
		addSignals:
			addSignalsSql(`UPDATE clicks SET context_id = keep_click_context(occurred_at, coalesce(known.platform, updated.platform), os,
				os_version, browser, device_model, language, coalesce(:timezone, timezone), country, bot_class)
			FROM updated, click_contexts AS known
			WHERE clicks.id = updated.click_id AND clicks.occurred_at = updated.created_at AND known.id = context_id
				AND (coalesce(:timezone, timezone), coalesce(known.platform, updated.platform))
					IS DISTINCT FROM (timezone, known.platform)`),
		forget: `UPDATE clicks SET context_id =
				keep_click_context(occurred_at, context.platform, NULL, NULL, NULL, NULL, NULL, NULL, context.country, context.bot_class)
			FROM own, click_contexts AS context WHERE clicks.id = own.click_id AND clicks.occurred_at = own.created_at
				AND context.id = context_id`,
		removeOrganization: (id) => sql`DELETE FROM clicks WHERE organization_id = ${id}`,
	},
	applyChanges: async () => {},
	dropOld: dropOldClicks,
	ping: null,
};
