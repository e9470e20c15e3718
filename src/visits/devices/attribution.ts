import {effectiveColumns} from '../../links/links/link-columns.ts';
import {type ClickCampaign, campaigns} from '../clicks/click-context.ts';

/** For how long the link that a device was matched to, or opened, is what its events come from (contract/reports 5). */
const DAYS = 30;

/** Phones' clocks differ from ours: an event may seem to have happened before the match that it follows. */
const SKEW = '5 minutes';

/** SQL: whether an event that happened at one time comes from a link that its device met at another. */
const isAttributed = (met: string, happened: string): string =>
	`${met} BETWEEN ${happened} - interval '${DAYS} days' AND ${happened} + interval '${SKEW}'`;

/** SQL: of the links that a device was matched to and opened, the later one that an event comes from; null if none. */
export const lastMet = (happened: string): string => {
	const [matched, opened] = [isAttributed('matched_at', happened), isAttributed('opened_at', happened)];
	return `CASE WHEN ${matched} AND (NOT coalesce(${opened}, false) OR matched_at >= opened_at) THEN matched_link_id
		WHEN ${opened} THEN opened_link_id END`;
};

/**
 * What funnels count matches and events by, kept with them: of the click or the opening that they come from, by the names
 * of dimensions. What is unknown is left out.
 */
export type Attribution = Readonly<Partial<Record<keyof NonNullable<ClickCampaign> | 'country', string>>>;

export const attributionOf = (campaign: ClickCampaign, country: string | null): Attribution =>
	Object.fromEntries(Object.entries({...campaign, country}).filter(([, value]) => value !== null));

/** SQL: the same of columns. */
export const attributionSql = (source: string, country: string): string => {
	const values = Object.entries(campaigns.words).map(([name, column]) => `'${name}', nullif(${source}.${column}, '')`);
	return `jsonb_strip_nulls(jsonb_build_object(${values.join(', ')}, 'country', ${country}))`;
};

/** SQL: the attribution of a link that nobody is known to have clicked. */
const attributionOfLink = (id: string): string => `(
	SELECT ${attributionSql('labelled', 'CAST(NULL AS text)')} FROM (
		SELECT ${effectiveColumns(({name}) => Object.hasOwn(campaigns.words, name))}
		FROM links LEFT JOIN templates ON templates.id = links.template_id WHERE links.id = ${id}
	) AS labelled)`;

/**
 * SQL: the attribution of an event: of the opening or the match, the later one, that its device met the link by; else of
 * the link as it is now.
 * @param event a row with the event's columns, its `attributed_link_id`, and the device's `opened_` and `matched_` columns.
 */
export const attributionOfEvent = (event: string): string => {
	const link = `${event}.attributed_link_id`;
	const met = (how: 'opened' | 'matched'): string =>
		`(${event}.${how}_link_id = ${link} AND ${isAttributed(`${event}.${how}_at`, `${event}.occurred_at`)})`;
	return `coalesce(
		CASE WHEN ${met('opened')} AND NOT coalesce(${met('matched')} AND ${event}.matched_at >= ${event}.opened_at, false)
			THEN ${event}.opened_attribution END,
		(SELECT attribution FROM match_attempts WHERE organization_id = ${event}.organization_id AND device_id = ${event}.device_id
			AND matched AND link_id = ${link} AND ${isAttributed('at', `${event}.occurred_at`)} ORDER BY at DESC LIMIT 1),
		${attributionOfLink(link)})`;
};
