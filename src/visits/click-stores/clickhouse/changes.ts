import {copyText} from '../../../platform/db/copy.ts';
import {type Db, inTransaction} from '../../../platform/db/db.ts';
import {execute, identifier, joined, run, sql} from '../../../platform/db/sql.ts';
import {countedOfCampaign, countedOfContext} from '../../clicks/dimensions.ts';
import {dayOf, intoClicks} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';
import {readByKeys, readKeys, type StoredClick} from './stored-clicks.ts';

/** Serializes the changes between processes; the number only has to differ from our other advisory locks. */
const CHANGES_LOCK = 7_201_007;

const AT_ONCE = 1000;

/** Before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** An organization's clicks are deleted twice, an hour apart: a batch in flight may arrive after the first time. */
const IS_DUE = sql`(kind <> 'organization' OR applied_at IS NULL OR applied_at < now() - interval '1 hour')`;

const deleteOrganizations = async (trx: Db, clickHouse: ClickHouse): Promise<void> => {
	const due = await run<{id: string; organizationId: string; isSecondDeletion: boolean}>(
		trx,
		sql`SELECT id, organization_id AS "organizationId", applied_at IS NOT NULL AS "isSecondDeletion" FROM click_changes
		WHERE kind = 'organization' AND ${IS_DUE}`,
	);
	if (due.length === 0) {
		return;
	}

	const owners = due.map(({organizationId}) => literal(organizationId)).join(', ');
	await clickHouse.run(`ALTER TABLE clicks DELETE WHERE organization_id IN (${owners})`);
	const idsOf = (isSecond: boolean) => due.filter((one) => one.isSecondDeletion === isSecond).map(({id}) => id);
	await trx('click_changes').whereIn('id', idsOf(true)).delete();
	await execute(trx, sql`UPDATE click_changes SET applied_at = now() WHERE id = ANY(${idsOf(false)})`);
};

/** `counted`: the values of `countedColumns` but for the referrer. */
type ChangedClick = {id: string; isForgotten: boolean; contextId: string; counted: Array<string | null>};

/** The properties of an erased person's clicks that are not cleared. */
const ANONYMOUS = new Set(['platform', 'country']);

/** The counted values of a changed click: its context's with the changes applied, and its campaign's. */
const changedValues = joined([
	...countedOfContext.map((column) => {
		const value =
			column === 'platform' ? sql`coalesce(known.platform, noted.platform)` : sql`known.${identifier(column)}`;
		return ANONYMOUS.has(column) ? value : sql`CASE WHEN NOT noted.forgotten THEN ${value} END`;
	}),
	...countedOfCampaign.map((column) => sql`campaign.${identifier(column)}`),
]);

/** The stored clicks after the changes, with their new contexts and the values that reports count. */
const readChanged = (trx: Db, changes: string[], clicks: StoredClick[]): Promise<ChangedClick[]> => {
	const stored = JSON.stringify(clicks.map(({id, context_id, campaign_id}) => ({id, context_id, campaign_id})));
	return run(
		trx,
		sql`WITH noted AS (
			SELECT click_id, bool_or(kind = 'forget') AS forgotten, max(timezone) AS timezone,
				max(platform) AS platform, max(clicked_at) AS clicked_at
			FROM click_changes WHERE id = ANY(${changes}) GROUP BY 1
		)
		SELECT noted.click_id AS id, noted.forgotten AS "isForgotten", ARRAY[${changedValues}] AS counted,
			CASE WHEN noted.forgotten
				THEN keep_click_context(noted.clicked_at, coalesce(known.platform, noted.platform), NULL, NULL, NULL, NULL, NULL, NULL,
					known.country, known.bot_class, known.host)
				ELSE keep_click_context(noted.clicked_at, coalesce(known.platform, noted.platform), known.os, known.os_version,
					known.browser, known.device_model, known.language, coalesce(noted.timezone, known.timezone), known.country,
					known.bot_class, known.host)
			END AS "contextId"
		FROM noted JOIN json_to_recordset(${stored}::json) AS stored (id uuid, context_id bigint, campaign_id bigint)
			ON stored.id = noted.click_id
		LEFT JOIN click_contexts AS known ON known.id = stored.context_id
		LEFT JOIN click_campaigns AS campaign ON campaign.id = stored.campaign_id`,
	);
};

/** The changed click, which hides the rows of lower versions. */
const changedRow = (click: StoredClick, {contextId, counted}: ChangedClick): string =>
	`${[
		click.organization_id,
		dayOf(click.occurred_at),
		click.link_id,
		click.occurred_at,
		click.id,
		click.version + 1,
		click.batch,
		contextId,
		click.campaign_id ?? '\\N',
		click.is_person,
		...counted.map(copyText),
		copyText(click.referrer_host),
	].join('\t')}\n`;

/** Changes some clicks that have arrived. @returns the id of the last change; null: none are left. */
const changeSome = async (trx: Db, clickHouse: ClickHouse, after: string): Promise<string | null> => {
	const due: Array<{id: string; click_id: string}> = await trx('click_changes')
		.whereNot({kind: 'organization'})
		.where('id', '>', after)
		.orderBy('id')
		.limit(AT_ONCE)
		.select('id', 'click_id');
	const last = due.at(-1);
	if (last === undefined) {
		return null;
	}

	const ids = due.map(({id}) => id);
	const keys = await readKeys(
		trx,
		sql`SELECT DISTINCT click_id, organization_id, link_id, clicked_at AS created_at FROM click_changes
		WHERE id = ANY(${ids})`,
	);
	const stored = await readByKeys(clickHouse, keys);
	const byId = new Map(stored.map((click) => [click.id, click]));
	const changed = await readChanged(trx, ids, stored);
	const rows = changed.flatMap((change) => {
		const click = byId.get(change.id);
		return click === undefined ? [] : changedRow(click, change);
	});
	if (rows.length > 0) {
		await clickHouse.insert(intoClicks, rows.join(''));
		const forgotten = changed.filter(({isForgotten}) => isForgotten);
		if (forgotten.length > 0) {
			// Only to free the disk: these versions are not read any more.
			await clickHouse.run(
				`ALTER TABLE clicks DELETE WHERE ${forgotten
					.map(({id}) => `(id = ${literal(id)} AND version <= ${literal(byId.get(id)?.version ?? 0)})`)
					.join(' OR ')}`,
			);
		}

		await trx('click_changes')
			.whereIn('id', ids)
			.whereIn(
				'click_id',
				changed.map(({id}) => id),
			)
			.delete();
	}

	return last.id;
};

/**
 * Applies the changes in `click_changes` to ClickHouse. A changed click is one more row with a higher version, which
 * every reader sees at once; the erased version is deleted afterwards. Repeating it changes nothing. Changes of clicks that
 * still wait in a journal wait, too.
 * @throws 503 if ClickHouse is unavailable.
 */
export const applyChanges = async (db: Db, clickHouse: ClickHouse): Promise<void> => {
	if ((await execute(db, sql`SELECT FROM click_changes WHERE ${IS_DUE} LIMIT 1`)) === 0) {
		return;
	}

	await inTransaction(db, async (trx) => {
		await execute(trx, sql`SELECT pg_advisory_xact_lock(${CHANGES_LOCK})`);
		// A click whose journal was lost never arrives; it is not awaited longer than a journal is kept.
		await execute(
			trx,
			sql`DELETE FROM click_changes WHERE made_at < now() - interval '40 days' AND kind <> 'organization'`,
		);
		await deleteOrganizations(trx, clickHouse);
		for (let after: string | null = NO_ID; after !== null; ) {
			after = await changeSome(trx, clickHouse, after);
		}
	});
};
