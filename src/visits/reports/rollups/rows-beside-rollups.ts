import {clicksInFull} from '../../clicks/click-context.ts';
import type {ClickReader} from '../../clicks/click-store.ts';
import {occurredWithin} from '../../clicks/click-times.ts';
import {clickDimensions, columnOf, type DimensionName} from '../../clicks/dimensions.ts';
import type {Scope} from '../stats/stats-bounds.ts';
import {countDimensions} from './count-dimensions.ts';

/** `snapshot`: the rows of transactions that had ended by it are in the rollups. */
export type Rolled = {snapshot: string; daysWithHours: Date[]};

/** A snapshot before the first transaction: nothing is rolled up. */
export const NOTHING_ROLLED = '3:3:';

// The first condition is for the index.
const isNotRolled = `writer >= pg_snapshot_xmin(CAST(:rolled AS pg_snapshot))
	AND NOT pg_visible_in_snapshot(writer, CAST(:rolled AS pg_snapshot))`;

/** Which rollups a statement adds the rows to: their bounds are bound as `quartersFrom`, `quartersTo` and so on. */
export type CoverName = 'quarters' | 'spans';

const within = (table: string, time: string, from: string, to: string): string =>
	table === 'clicks' ? occurredWithin('organization', from, to) : `${time} >= ${from} AND ${time} < ${to}`;

/** The clicks of some links, which a report reads once for all that it counts. */
const CHOSEN = 'chosen_clicks';

const OF_LINKS = 'organization_id = :organizationId AND link_id = ANY(CAST(:linkIds AS uuid[]))';

/** SQL of a CTE: a click costs a page of the disk to read, whatever is counted. */
const chosenClicks = (columns: readonly string[]): string => `${CHOSEN} AS MATERIALIZED (
	SELECT ${['occurred_at', 'bot_class', ...columns].join(', ')} FROM ${clicksInFull} AS clicks
	WHERE ${OF_LINKS} AND ${occurredWithin('link', ':from', ':to')})`;

/**
 * Rows of the range that the rollups lack: those outside their cover, and those younger than they. Of some links there are
 * no rollups.
 */
export const rowsBesideRollups = (
	{table, time, columns, condition = 'true'}: {table: string; time: string; columns: string; condition?: string},
	{linkIds}: Scope,
	cover: CoverName,
): string => {
	if (linkIds !== null) {
		return table === 'clicks'
			? `SELECT ${columns} FROM ${CHOSEN} WHERE ${condition}`
			: `SELECT ${columns} FROM ${table} WHERE ${OF_LINKS} AND ${condition} AND ${within(table, time, ':from', ':to')}`;
	}

	const [from, to] = [`:${cover}From`, `:${cover}To`];
	return [
		within(table, time, ':from', from),
		within(table, time, to, ':to'),
		`${within(table, time, from, to)} AND ${isNotRolled}`,
	]
		.map(
			(range) => `SELECT ${columns} FROM ${table === 'clicks' ? `${clicksInFull} AS clicks` : table}
				WHERE organization_id = :organizationId AND ${condition} AND ${range}`,
		)
		.join(' UNION ALL ');
};

const columnsOf = (by: readonly DimensionName[]): string[] =>
	clickDimensions.filter((name) => by.includes(name)).map(columnOf);

const clicksBeside = (columns: string, scope: Scope, cover: CoverName, condition = 'true'): string =>
	rowsBesideRollups({table: 'clicks', time: 'occurred_at', columns, condition}, scope, cover);

/** Counts the rows of the table `clicks`. */
export const postgresReader: ClickReader = {
	inTurn: (work) => work(),
	shared: ({linkIds}, by) => (linkIds === null ? null : chosenClicks(columnsOf(by))),
	counts: async (_, {scope}) => ({
		sql: clicksBeside(
			'occurred_at AS at, CAST(bot_class IS NULL AS int) AS clicks, CAST(bot_class IS NOT NULL AS int) AS crawler_views',
			scope,
			'quarters',
		),
		bindings: {},
	}),
	dimensions: async (_, {scope, by}) => {
		const people = clicksBeside(columnsOf(by).join(', ') || '1', scope, 'spans', 'bot_class IS NULL');
		return {sql: countDimensions(`(${people}) AS people`, {dimensions: by}), bindings: {}};
	},
};
