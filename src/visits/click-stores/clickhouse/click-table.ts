import type {Db} from '../../../platform/db/db.ts';
import {execute, sql} from '../../../platform/db/sql.ts';
import {countedClicks} from '../../clicks/counted-clicks.ts';
import {clickDimensions, columnOf, countedColumns, type DimensionName} from '../../clicks/dimensions.ts';
import type {Section} from '../../clicks/journal/section.ts';
import type {ClickHouseRows} from '../../clicks/journal/store.ts';
import {type ClickHouse, literal, microseconds} from './clickhouse.ts';

/**
 * Columns in their order. `day` is that of UTC since 1970: an organization's days are read without its other days, and
 * one link's days without its other links. Times are microseconds since 1970, because old versions have no type with fractions of a
 * second. `countedColumns` are what reports count, also of the context and the campaign, whose rows stay in PostgreSQL. `version` is 0
 * for a new row, 1 for a migrated one, and one more with each change.
 */
const columns = [
	['organization_id', 'UUID'],
	['day', 'UInt16'],
	['link_id', 'UUID'],
	['occurred_at', 'UInt64'],
	['id', 'UUID'],
	['version', 'UInt64'],
	['batch', 'UUID'],
	['context_id', 'Nullable(Int64)'],
	['campaign_id', 'Nullable(Int64)'],
	['is_person', 'UInt8'],
	...countedColumns.map((column) => [column, 'Nullable(String)'] as const),
] as const;

const DAY = 86_400_000_000;

/** Microseconds of a quarter of an hour, which every time zone's hours, days and months are made of. */
export const QUARTER = 900_000_000;

/** The target of an INSERT. */
export const intoClicks = `clicks (${columns.map(([name]) => name).join(', ')})`;

/** The batch id of clicks that did not come from a journal. */
export const NO_BATCH = '00000000-0000-0000-0000-000000000000';

/**
 * Rows of one key are one click: the one of the highest version, whether they are merged yet (FINAL) or not. The key
 * has the click's id: a batch that is inserted twice is stored once.
 */
export const createClickTable = (clickHouse: ClickHouse): Promise<void> =>
	clickHouse.run(`CREATE TABLE IF NOT EXISTS clicks (${columns.map(([name, type]) => `${name} ${type}`).join(', ')})
		ENGINE = ReplacingMergeTree(version)
		PARTITION BY toYYYYMM(toDateTime(intDiv(occurred_at, 1000000), 'UTC'))
		ORDER BY (organization_id, day, link_id, occurred_at, id)`);

/** The day of a time in microseconds. */
export const dayOf = (at: number): number => Math.floor(at / DAY);

/** SQL: clicks of a range, whose days the index finds. @param to exclusive; null: until now. */
export const occurredWithin = (from: Date, to: Date | null): string =>
	[
		`day >= ${literal(dayOf(from.getTime() * 1000))} AND occurred_at >= ${microseconds(from)}`,
		...(to === null ? [] : [`day <= ${literal(dayOf(to.getTime() * 1000))} AND occurred_at < ${microseconds(to)}`]),
	].join(' AND ');

/** Rows of TabSeparated, whose values are escaped as COPY does, and the time of the oldest. */
const clickRows = (sections: readonly Section[], batch: string): {rows: string; oldest: string} => {
	let [rows, oldest] = ['', '9'];
	for (const {id, time, organizationId, linkId, contextId, campaignId, counted} of countedClicks(sections)) {
		const at = Date.parse(time) * 1000;
		rows += `${organizationId}\t${dayOf(at)}\t${linkId}\t${at}\t${id}\t0\t${batch}\t${contextId}\t${campaignId}\t${counted}\n`;
		oldest = time < oldest ? time : oldest;
	}

	return {rows, oldest};
};

/**
 * SQL: people's clicks by dimension and key, and by the hour since 1970 if `byHour`.
 * @param names some of `clickDimensions`, at least one.
 */
export const selectDimensions = (condition: string, names = clickDimensions, byHour = false): string => {
	const [hour, by] = byHour ? ['intDiv(occurred_at, 3600000000) AS hour, ', 'hour, '] : ['', ''];
	const selected = (name: DimensionName) => (name === 'link' ? 'toString(link_id)' : columnOf(name));
	return `SELECT ${by}dimension, key, count() AS count FROM (
			SELECT ${hour}${names.map((name, index) => `${selected(name)} AS value${index}`).join(', ')}
			FROM clicks FINAL WHERE ${condition} AND is_person = 1
		) ARRAY JOIN [${names.map((name) => `'${name}'`).join(', ')}] AS dimension,
			[${names.map((_, index) => `value${index}`).join(', ')}] AS key
		GROUP BY ${by}dimension, key`;
};

/**
 * Held shared while a batch is in ClickHouse and its transaction is not committed: an exclusive holder sees
 * both or neither. The number only has to differ from our other advisory locks.
 */
export const BATCH_LOCK = 7_201_006;

/** Brings batches of clicks into ClickHouse, and notes them for the live stream. */
export const createClickHouseRows = (clickHouse: ClickHouse): ClickHouseRows => {
	let table: Promise<void> | null = null;

	return {
		store: async (trx: Db, batch, sections) => {
			table ??= createClickTable(clickHouse);
			await table.catch((error: unknown) => {
				table = null;
				throw error;
			});
			await execute(trx, sql`SELECT pg_advisory_xact_lock_shared(${BATCH_LOCK})`);
			const {rows, oldest} = clickRows(sections, batch);
			await clickHouse.insert(intoClicks, rows);
			await trx('click_batches').insert({id: batch, oldest});
		},
	};
};
