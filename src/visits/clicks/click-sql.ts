import {identifier, joined, literal, type Sql, sql} from '../../platform/db/sql.ts';
import {campaigns, contexts} from '../visit/click-context.ts';

/** The columns of contexts and campaigns, to be joined by `joinSharedValues`. */
export const sharedColumns = joined(
	[contexts, campaigns].flatMap(({table, columns}) => columns.map((column) => identifier(`${table}.${column}`))),
);

/** Joins clicks with their contexts and campaigns. */
export const joinSharedValues = (clicks: Sql): Sql =>
	sql`LEFT JOIN click_contexts ON click_contexts.id = ${clicks}.context_id
		LEFT JOIN click_campaigns ON click_campaigns.id = ${clicks}.campaign_id`;

/** Clicks of the table, or of a partition, with their contexts and campaigns, for a FROM: all columns of the three tables. */
export const fullClicks = (table = 'clicks'): Sql =>
	sql`(SELECT clicks.*, ${sharedColumns} FROM ${identifier(table)} AS clicks ${joinSharedValues(sql`clicks`)})`;

export const clicksInFull = fullClicks();

/**
 * The time expression in the indexes on clicks (migration `clicks`). It must be spelled as there, or the index is not
 * used.
 */
const steps = {organization: literal('10 minutes'), link: literal('1 day')};

/** The start of the step that contains a time. */
export const stepOf = (by: keyof typeof steps, time: Sql): Sql =>
	sql`date_bin(${steps[by]}, ${time}, '2000-01-01T00:00:00Z')`;

/**
 * Clicks of a range, to be used with `organization_id = …` or `link_id = …`. The index finds the steps; the exact
 * condition follows.
 * @param to exclusive.
 */
export const occurredWithin = (by: keyof typeof steps, from: Date, to?: Date): Sql => {
	const step = stepOf(by, sql`occurred_at`);
	const begun = sql`occurred_at >= ${from} AND ${step} >= ${stepOf(by, sql`${from}::timestamptz`)}`;
	return to === undefined ? begun : sql`${begun} AND occurred_at < ${to} AND ${step} < ${to}`;
};
