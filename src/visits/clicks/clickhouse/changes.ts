import {copyText} from '../../../platform/db/copy-in.ts';
import {type Db, inTransaction} from '../../../platform/db/db.ts';
import {countedOfCampaign, countedOfContext} from '../dimensions.ts';
import {dayOf, intoClicks} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';
import {readByKeys, readKeys, type StoredClick} from './stored-clicks.ts';

/** Serializes the changes between processes; the number only has to differ from our other advisory locks. */
const CHANGES_LOCK = 7_201_007;

const AT_ONCE = 1000;

/** Before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** An organization is due twice: a batch that was on its way may have arrived after the first deletion. */
const IS_DUE = "(kind <> 'organization' OR applied_at IS NULL OR applied_at < now() - interval '1 hour')";

/** A click that never comes, because its journal was lost, is not waited for longer than a journal is kept. */
const GIVEN_UP = "made_at < now() - interval '40 days' AND kind <> 'organization'";

const deleteOrganizations = async (trx: Db, clickHouse: ClickHouse): Promise<void> => {
	const due: Array<{id: string; organization_id: string; applied_at: Date | null}> = await trx('click_changes')
		.where({kind: 'organization'})
		.whereRaw(IS_DUE)
		.select('id', 'organization_id', 'applied_at');
	if (due.length === 0) {
		return;
	}

	const owners = due.map(({organization_id: id}) => literal(id)).join(', ');
	await clickHouse.run(`ALTER TABLE clicks DELETE WHERE organization_id IN (${owners})`);
	const idsOf = (isAgain: boolean) => due.filter((one) => (one.applied_at !== null) === isAgain).map(({id}) => id);
	await trx('click_changes').whereIn('id', idsOf(true)).delete();
	await trx('click_changes')
		.whereIn('id', idsOf(false))
		.update({applied_at: trx.raw('now()')});
};

/** `counted`: the values of `countedColumns` but for the referrer. */
type Changed = {id: string; isForgotten: boolean; contextId: string; counted: Array<string | null>};

/** What is kept of a person who is forgotten. */
const KEPT = new Set(['platform', 'country']);

/** SQL: the counted values of a changed click, those of the context after the change. */
const CHANGED_VALUES = [
	...countedOfContext.map((column) => {
		const value = column === 'platform' ? 'coalesce(known.platform, noted.platform)' : `known.${column}`;
		return KEPT.has(column) ? value : `CASE WHEN NOT noted.forgotten THEN ${value} END`;
	}),
	...countedOfCampaign.map((column) => `campaign.${column}`),
].join(', ');

/** The stored clicks after the changes, with their new contexts and the values that reports count. */
const readChanged = async (trx: Db, changes: string[], clicks: StoredClick[]): Promise<Changed[]> => {
	const {rows} = await trx.raw<{rows: Changed[]}>(
		`WITH noted AS (
			SELECT click_id, bool_or(kind = 'forget') AS forgotten, max(timezone) AS timezone,
				max(platform) AS platform, max(clicked_at) AS clicked_at
			FROM click_changes WHERE id = ANY(:changes) GROUP BY 1
		)
		SELECT noted.click_id AS id, noted.forgotten AS "isForgotten", ARRAY[${CHANGED_VALUES}] AS counted,
			CASE WHEN noted.forgotten
				THEN keep_click_context(noted.clicked_at, coalesce(known.platform, noted.platform), NULL, NULL, NULL, NULL, NULL, NULL,
					known.country, known.bot_class)
				ELSE keep_click_context(noted.clicked_at, coalesce(known.platform, noted.platform), known.os, known.os_version,
					known.browser, known.device_model, known.language, coalesce(noted.timezone, known.timezone), known.country,
					known.bot_class)
			END AS "contextId"
		FROM noted JOIN json_to_recordset(CAST(:clicks AS json)) AS stored (id uuid, context_id bigint, campaign_id bigint)
			ON stored.id = noted.click_id
		LEFT JOIN click_contexts AS known ON known.id = stored.context_id
		LEFT JOIN click_campaigns AS campaign ON campaign.id = stored.campaign_id`,
		{changes, clicks: JSON.stringify(clicks.map(({id, context_id, campaign_id}) => ({id, context_id, campaign_id})))},
	);
	return rows;
};

/** The changed click, which hides the rows of lower versions. */
const changedRow = (click: StoredClick, {contextId, counted}: Changed): string =>
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

/** Changes some clicks, if they have come yet. @returns the changes to look at next, after an id; null: none are left. */
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
	const keys = await readKeys(trx, {
		sql: 'SELECT DISTINCT click_id, organization_id, link_id, clicked_at AS created_at FROM click_changes WHERE id = ANY(:ids)',
		bindings: {ids},
	});
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
			// Nobody reads them any more: this is for the disk.
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
 * Brings what statements have noted in `click_changes` to ClickHouse. A changed click is one more row with a higher
 * version, which every reader sees at once; what was erased is deleted behind it. Repeating it changes nothing. Changes
 * of clicks that still wait in a journal wait, too.
 * @throws 503 if ClickHouse is away.
 */
export const applyChanges = async (db: Db, clickHouse: ClickHouse): Promise<void> => {
	const {rows} = await db.raw<{rows: Array<{isDue: boolean}>}>(
		`SELECT EXISTS (SELECT FROM click_changes WHERE ${IS_DUE}) AS "isDue"`,
	);
	if (rows[0]?.isDue !== true) {
		return;
	}

	await inTransaction(db, async (trx) => {
		await trx.raw('SELECT pg_advisory_xact_lock(?)', [CHANGES_LOCK]);
		await trx('click_changes').whereRaw(GIVEN_UP).delete();
		await deleteOrganizations(trx, clickHouse);
		for (let after: string | null = NO_ID; after !== null; ) {
			after = await changeSome(trx, clickHouse, after);
		}
	});
};
