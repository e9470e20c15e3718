/** How times are indexed beside what clicks are found by (migration `cheaper_clicks`); spelled as there, or it is not found. */
const steps = {organization: '10 minutes', link: '1 day'} as const;

/** SQL for the beginning of the step that a time is in. */
export const stepOf = (by: keyof typeof steps, time: string): string =>
	`date_bin('${steps[by]}', ${time}, '2000-01-01T00:00:00Z')`;

/**
 * SQL for clicks of a range, beside `organization_id = …` or `link_id = …`: the steps are what the index finds them by,
 * the rest is exact. @param from, to SQL; `to` is not in the range.
 */
export const occurredWithin = (by: keyof typeof steps, from: string, to?: string): string =>
	[
		`occurred_at >= ${from} AND ${stepOf(by, 'occurred_at')} >= ${stepOf(by, `CAST(${from} AS timestamptz)`)}`,
		...(to === undefined ? [] : [`occurred_at < ${to} AND ${stepOf(by, 'occurred_at')} < ${to}`]),
	].join(' AND ');
