import {clicksInFull} from '../click-context.ts';
import type {ClickReader} from '../click-store.ts';
import {occurredWithin} from '../click-times.ts';
import {clickDimensions, columnOf} from '../dimensions.ts';
import type {Scope} from '../stats/stats-bounds.ts';
import {countDimensions} from './count-dimensions.ts';

/** `snapshot`: the rows of transactions that had ended by it are in the rollups. */
export type Rolled = {snapshot: string; daysWithHours: Date[]};

/** A snapshot before the first transaction: nothing is rolled up. */
export const NOTHING_ROLLED = '3:3:';

// The first condition is for the index.
const isNotRolled = `writer >= pg_snapshot_xmin(CAST(:rolled AS pg_snapshot))
	AND NOT pg_visible_in_snapshot(writer, CAST(:rolled AS pg_snapshot))`;

/** Rows of the range that the rollups of `cover` lack: those outside it, and those younger than the rollups. */
export const rowsBesideRollups = (
	table: string,
	time: string,
	columns: string,
	scope: Scope,
	condition = 'true',
): string => {
	const where = `organization_id = :organizationId AND ${condition}${scope.linkIds === null ? '' : ' AND link_id = ANY(CAST(:linkIds AS uuid[]))'}`;
	const within = (start: string, end: string): string =>
		table === 'clicks'
			? occurredWithin(scope.linkIds === null ? 'organization' : 'link', start, end)
			: `${time} >= ${start} AND ${time} < ${end}`;
	const from = table === 'clicks' ? `${clicksInFull} AS clicks` : table;
	return [
		within(':from', ':coverFrom'),
		within(':coverTo', ':to'),
		`${within(':coverFrom', ':coverTo')} AND ${isNotRolled}`,
	]
		.map((range) => `SELECT ${columns} FROM ${from} WHERE ${where} AND ${range}`)
		.join(' UNION ALL ');
};

/** Counts the rows of the table `clicks`. */
export const postgresReader: ClickReader = {
	inTurn: (work) => work(),
	counts: async (_, {scope}) => ({
		sql: rowsBesideRollups(
			'clicks',
			'occurred_at',
			'occurred_at AS at, CAST(bot_class IS NULL AS int) AS clicks, CAST(bot_class IS NOT NULL AS int) AS crawler_views',
			scope,
		),
		bindings: {},
	}),
	dimensions: async (_, {scope, by}) => {
		const columns = clickDimensions.filter((name) => by.includes(name)).map(columnOf);
		const people = rowsBesideRollups('clicks', 'occurred_at', columns.join(', ') || '1', scope, 'bot_class IS NULL');
		return {sql: countDimensions(`(${people}) AS people`, {dimensions: by}), bindings: {}};
	},
};
