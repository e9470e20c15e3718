import type {Snapshot} from '../../../platform/db/new-rows.ts';
import {identifier, joined, type Sql, sql} from '../../../platform/db/sql.ts';
import {clicksInFull, occurredWithin} from '../../clicks/click-sql.ts';
import {clickDimensions, columnOf, type DimensionName} from '../../clicks/dimensions.ts';
import type {ClickReader, CountedRows} from '../click-store.ts';
import {countDimensions} from './count-dimensions.ts';

/** `snapshot`: the rows of transactions that had ended by it are in the rollups. */
export type Rolled = {snapshot: Snapshot; daysWithHours: Date[]};

/** A snapshot before the first transaction: nothing is rolled up. */
export const NOTHING_ROLLED = '3:3:';

/** Rows of a table, by a time column. */
type Rows = {table: 'clicks' | 'match_attempts' | 'events'; time: 'occurred_at' | 'at'; columns: Sql; condition?: Sql};

const within = ({table, time}: Rows, from: Date, to: Date): Sql => {
	const column = identifier(time);
	return table === 'clicks'
		? occurredWithin('organization', from, to)
		: sql`${column} >= ${from} AND ${column} < ${to}`;
};

const ofLinks = (organizationId: string, linkIds: readonly string[]): Sql =>
	sql`organization_id = ${organizationId} AND link_id = ANY(${linkIds}::uuid[])`;

/**
 * Rows of the range that the rollups lack: those outside their cover, and those younger than they. Of some links there are
 * no rollups; their clicks are those of the shared CTE.
 */
export const rowsBesideRollups = (rows: Rows, {scope, range, cover, rolled}: CountedRows): Sql => {
	const {table, columns, condition = sql`true`} = rows;
	const {organizationId, linkIds} = scope;
	const {from, to} = range;
	if (linkIds !== null) {
		return table === 'clicks'
			? sql`SELECT ${columns} FROM chosen_clicks WHERE ${condition}`
			: sql`SELECT ${columns} FROM ${identifier(table)}
				WHERE ${ofLinks(organizationId, linkIds)} AND ${condition} AND ${within(rows, from, to)}`;
	}

	// The first condition is for the index.
	const isNotRolled = sql`writer >= pg_snapshot_xmin(${rolled}::pg_snapshot)
		AND NOT pg_visible_in_snapshot(writer, ${rolled}::pg_snapshot)`;
	const parts = [
		within(rows, from, cover.from),
		within(rows, cover.to, to),
		sql`${within(rows, cover.from, cover.to)} AND ${isNotRolled}`,
	];
	const source = table === 'clicks' ? sql`${clicksInFull} AS clicks` : identifier(table);
	return joined(
		parts.map(
			(part) => sql`SELECT ${columns} FROM ${source}
				WHERE organization_id = ${organizationId} AND ${condition} AND ${part}`,
		),
		' UNION ALL ',
	);
};

const columnsOf = (by: readonly DimensionName[]): Sql[] =>
	clickDimensions.filter((name) => by.includes(name)).map((name) => identifier(columnOf(name)));

const clicksBeside = (columns: Sql, counted: CountedRows, condition = sql`true`): Sql =>
	rowsBesideRollups({table: 'clicks', time: 'occurred_at', columns, condition}, counted);

/** Counts the rows of the table `clicks`. */
export const postgresReader: ClickReader = {
	inTurn: (work) => work(),
	// A click costs a page of the disk to read, whatever is counted.
	shared: ({organizationId, linkIds}, {from, to}, by) =>
		linkIds === null
			? null
			: sql`chosen_clicks AS MATERIALIZED (
				SELECT ${joined([sql`occurred_at`, sql`bot_class`, ...columnsOf(by)])} FROM ${clicksInFull} AS clicks
				WHERE ${ofLinks(organizationId, linkIds)} AND ${occurredWithin('link', from, to)})`,
	counts: async (_, counted) =>
		clicksBeside(
			sql`occurred_at AS at, CAST(bot_class IS NULL AS int) AS clicks, CAST(bot_class IS NOT NULL AS int) AS crawler_views`,
			counted,
		),
	dimensions: async (_, {by, ...counted}) => {
		const columns = columnsOf(by);
		const people = clicksBeside(columns.length === 0 ? sql`1` : joined(columns), counted, sql`bot_class IS NULL`);
		return countDimensions(sql`(${people}) AS people`, {dimensions: by});
	},
};
