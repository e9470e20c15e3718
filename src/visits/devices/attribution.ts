import {effectiveColumns} from '../../links/links/link-columns.ts';
import {identifier, joined, literal, type Sql, sql} from '../../platform/db/sql.ts';
import {type ClickCampaign, campaigns} from '../visit/click-context.ts';

/** How long a device's events are attributed to the link that it was matched to, or opened (contract/reports 5). */
const DAYS = literal('30 days');

/** Phones' clocks differ from ours: an event may seem to have happened before the match that it follows. */
const SKEW = literal('5 minutes');

/**
 * SQL: whether an event at the time `happened` is attributed to a link that its device was matched to or opened at the
 * time `met`.
 */
const isAttributed = (met: Sql, happened: Sql): Sql =>
	sql`${met} BETWEEN ${happened} - interval ${DAYS} AND ${happened} + interval ${SKEW}`;

/**
 * SQL: the link that an event is attributed to, of the two that its device was last matched to and opened: the later
 * one; null if neither.
 */
export const lastLink = (happened: Sql): Sql => {
	const [matched, opened] = [isAttributed(sql`matched_at`, happened), isAttributed(sql`opened_at`, happened)];
	return sql`CASE WHEN ${matched} AND (NOT coalesce(${opened}, false) OR matched_at >= opened_at) THEN matched_link_id
		WHEN ${opened} THEN opened_link_id END`;
};

/**
 * The values by which funnels count matches and events, stored with them: those of their click or opening, by the names
 * of dimensions. Unknown values are omitted.
 */
export type Attribution = Readonly<Partial<Record<keyof NonNullable<ClickCampaign> | 'country', string>>>;

export const attributionOf = (campaign: ClickCampaign, country: string | null): Attribution =>
	Object.fromEntries(Object.entries({...campaign, country}).filter(([, value]) => value !== null));

/** SQL: the same of columns. */
export const attributionSql = (source: string, country: Sql): Sql => {
	const values = Object.entries(campaigns.columnsByName).map(
		([name, column]) => sql`${literal(name)}, nullif(${identifier(`${source}.${column}`)}, '')`,
	);
	return sql`jsonb_strip_nulls(jsonb_build_object(${joined(values)}, 'country', ${country}))`;
};

/** SQL: the attribution of a link without a known click. */
const attributionOfLink = (id: Sql): Sql => sql`(
	SELECT ${attributionSql('labelled', sql`NULL::text`)} FROM (
		SELECT ${effectiveColumns(({name}) => Object.hasOwn(campaigns.columnsByName, name))}
		FROM links LEFT JOIN templates ON templates.id = links.template_id WHERE links.id = ${id}
	) AS labelled)`;

/**
 * SQL: the attribution of an event: of the opening or the match, the later one, that its device met the link by; else of
 * the link as it is now.
 * @param event a row with the event's columns, its `attributed_link_id`, and the device's `opened_` and `matched_` columns.
 */
export const attributionOfEvent = (event: Sql): Sql => {
	const link = sql`${event}.attributed_link_id`;
	const met = (at: Sql, deviceLink: Sql) =>
		sql`(${event}.${deviceLink} = ${link} AND ${isAttributed(sql`${event}.${at}`, sql`${event}.occurred_at`)})`;
	const matched = met(sql`matched_at`, sql`matched_link_id`);
	return sql`coalesce(
		CASE WHEN ${met(sql`opened_at`, sql`opened_link_id`)} AND NOT coalesce(${matched} AND ${event}.matched_at >= ${event}.opened_at, false)
			THEN ${event}.opened_attribution END,
		(SELECT attribution FROM match_attempts WHERE organization_id = ${event}.organization_id AND device_id = ${event}.device_id
			AND matched AND link_id = ${link} AND ${isAttributed(sql`at`, sql`${event}.occurred_at`)} ORDER BY at DESC LIMIT 1),
		${attributionOfLink(link)})`;
};
