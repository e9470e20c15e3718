/**
 * The time expression in the indexes on clicks (migration `clicks`). It must be spelled as there, or the index is not
 * used.
 */
const steps = {organization: '10 minutes', link: '1 day'} as const;

/** SQL for the start of the step that contains a time. */
export const stepOf = (by: keyof typeof steps, time: string): string =>
	`date_bin('${steps[by]}', ${time}, '2000-01-01T00:00:00Z')`;

/**
 * SQL for clicks of a range, to be used with `organization_id = …` or `link_id = …`. The index finds the steps; the
 * exact condition follows.
 * @param from, to SQL; `to` is exclusive.
 */
export const occurredWithin = (by: keyof typeof steps, from: string, to?: string): string =>
	[
		`occurred_at >= ${from} AND ${stepOf(by, 'occurred_at')} >= ${stepOf(by, `CAST(${from} AS timestamptz)`)}`,
		...(to === undefined ? [] : [`occurred_at < ${to} AND ${stepOf(by, 'occurred_at')} < ${to}`]),
	].join(' AND ');

/** SQL: rows of transactions that ended between two snapshots, which are bound. The first two conditions are for the index. */
export const writtenBetween = (from: string, upTo: string): string =>
	`writer >= pg_snapshot_xmin(CAST(:${from} AS pg_snapshot)) AND writer < pg_snapshot_xmax(CAST(:${upTo} AS pg_snapshot))
		AND NOT pg_visible_in_snapshot(writer, CAST(:${from} AS pg_snapshot))
		AND pg_visible_in_snapshot(writer, CAST(:${upTo} AS pg_snapshot))`;
