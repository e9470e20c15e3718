import type {Db} from '../../../platform/db/db.ts';
import type {Rows} from '../../clicks/click-context.ts';

/** What is counted of a link by the quarter of an hour, in the order of the table's columns. */
const COUNTS = ['clicks', 'crawler_views', 'events'] as const;

const arrays = ['quarters', ...COUNTS];

/** SQL: the quarter of an hour since the month began. */
export const quarterOf = (at: string, month: string): string =>
	`CAST(floor(extract(epoch FROM ${at} - ${month}) / 900) AS smallint)`;

/**
 * SQL that adds to the counts of links (docs/internals.md), in one order, so that no two transactions wait for each other.
 * @param counted a SELECT of `organization_id`, `link_id`, `month`, `quarter`, and of the counts, which it groups by them.
 */
export const keepLinkCounts = (counted: string): string => `
	INSERT INTO rollup_links (organization_id, link_id, month, ${arrays.join(', ')})
	SELECT organization_id, link_id, month, array_agg(quarter), ${COUNTS.map((name) => `array_agg(CAST(${name} AS integer))`).join(', ')}
	FROM (${counted}) AS counted WHERE organization_id IN (SELECT id FROM organizations) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT (organization_id, link_id, month) DO UPDATE SET ${arrays
		.map((column) => `${column} = rollup_links.${column} || excluded.${column}`)
		.join(', ')}`;

/**
 * Keeps the visits of links in a month whose clicks are about to be dropped: a report of some links has nothing else.
 * @param visits SELECTs of `organization_id`, `link_id`, `quarter`, `clicks` and `crawler_views`.
 */
export const keepLinkVisits = async (
	trx: Db,
	month: Date,
	visits: AsyncIterable<Rows> | Iterable<Rows>,
): Promise<void> => {
	for await (const {sql, bindings} of visits) {
		await trx.raw(
			keepLinkCounts(`SELECT *, CAST(:month AS timestamptz) AS month, 0 AS events FROM (${sql}) AS visits`),
			{...bindings, month},
		);
	}
};

/** SQL: what is kept of the links of a report, as rows of its series; bounds and links are bound. */
export const KEPT_OF_LINKS = `SELECT at, clicks, crawler_views, 0 AS matches, events FROM (
		SELECT month + quarter * interval '15 minutes' AS at, counted.* FROM rollup_links,
			unnest(${arrays.map((column) => `rollup_links.${column}`).join(', ')}) AS counted (quarter, ${COUNTS.join(', ')})
		WHERE organization_id = :organizationId AND link_id = ANY(CAST(:linkIds AS uuid[]))
			AND month > CAST(:from AS timestamptz) - interval '31 days' AND month < :to
	) AS kept WHERE at >= :from AND at < :to`;
