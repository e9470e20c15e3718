import {clicksInFull} from './click-context.ts';
import {occurredWithin} from './click-times.ts';

/** The rows to count. `linkId` null: all of the organization. */
export type Scope = {organizationId: string; linkId: string | null};

/** `snapshot`: the rows of transactions that had ended by it are in the rollups. */
export type Rolled = {snapshot: string; daysWithHours: Date[]};

/** A snapshot before the first transaction: nothing is rolled up. */
export const NOTHING_ROLLED = '3:3:';

// The first condition is for the index.
const isNotRolled = `writer >= pg_snapshot_xmin(CAST(:rolled AS pg_snapshot))
	AND NOT pg_visible_in_snapshot(writer, CAST(:rolled AS pg_snapshot))`;

/** Rows of the range that the rollups of `cover` lack: those outside it, and those younger than the rollups. */
export const uncounted = (table: string, time: string, columns: string, scope: Scope, condition = 'true'): string => {
	const where = `organization_id = :organizationId AND ${condition}${scope.linkId === null ? '' : ' AND link_id = :linkId'}`;
	const within = (start: string, end: string): string =>
		table === 'clicks'
			? occurredWithin(scope.linkId === null ? 'organization' : 'link', start, end)
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
