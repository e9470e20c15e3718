import {type Db, onlyRow} from '../../platform/db/db.ts';
import {joined, literal, prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import type {LinkPolicy} from '../../platform/policy/link-policy.ts';
import {effectiveColumns} from './link-columns.ts';
import {type AppName, type LinkColumns, linkFields} from './link-fields.ts';

/** An operator's decision on a link, which outlives every list. `allow`: no list acts on it. */
export type Decision = {state: 'block' | 'allow'; reason: string | null; since: string};

/** The reason why a link is blocked, or why visitors are warned of it (contract/links 15). */
export type Safety = {
	state: 'block' | 'warn';
	by: 'list' | 'operator';
	reason: string | null;
	since: Date | string;
};

/** The addresses that a link, a template or an app configuration can lead to, by its columns. */
export type Addresses = Pick<LinkColumns<AppName>, 'fallback_url' | 'destinations' | 'og_image_url'> & {
	logo_url?: string | null;
};

export const addressesOf = ({fallback_url, destinations, og_image_url, logo_url}: Addresses): Array<string | null> => [
	fallback_url,
	...Object.values(destinations ?? {}),
	og_image_url,
	logo_url ?? null,
];

/** The addresses that take effect: each of the first level that has it. */
export const effectiveAddresses = (levels: ReadonlyArray<Addresses | null>): Addresses => {
	const set = levels.filter((level) => level !== null);
	return {
		fallback_url: set.find(({fallback_url}) => fallback_url !== null)?.fallback_url ?? null,
		destinations: Object.assign({}, ...set.toReversed().map(({destinations}) => destinations)),
		og_image_url: set.find(({og_image_url}) => og_image_url !== null)?.og_image_url ?? null,
		logo_url: set.at(-1)?.logo_url ?? null,
	};
};

/**
 * The safety of a link with these effective addresses; null if it is neither blocked nor warned of.
 * @param changedAt when its addresses were last written.
 */
export const safetyOf = (
	policy: LinkPolicy,
	{decision, changedAt}: {decision: Decision | null; changedAt: Date},
	addresses: Addresses,
): Safety | null => {
	if (decision !== null) {
		const {state, reason, since} = decision;
		return state === 'block' ? {state, by: 'operator', reason, since} : null;
	}

	const verdict = policy.ofAll(addressesOf(addresses));
	if (verdict === null) {
		return null;
	}

	const {state, list, since} = verdict;
	return {state, by: 'list', reason: `On the list ${list}`, since: since > changedAt ? since : changedAt};
};

const addressColumns = effectiveColumns(({name}) => ['fallbackUrl', 'destinations', 'og'].includes(name));

/**
 * The effective addresses of links that meet a condition and have no operator's decision: each link's own, else its
 * template's, else its organization's.
 */
const effectiveOf = (condition: Sql): Sql =>
	sql`SELECT links.id, ${addressColumns}, app_configs.logo_url
		FROM links LEFT JOIN templates ON templates.id = links.template_id
		LEFT JOIN app_configs ON app_configs.organization_id = links.organization_id
		WHERE links.decision IS NULL AND ${condition}`;

/** The addresses of a link, a line each: in normal form they have no line breaks. */
const addressLines = sql`concat_ws(E'\n', fallback_url, ${joined(
	Object.keys(linkFields.destinations.parts).map((platform) => sql`destinations ->> ${literal(platform)}`),
)}, og_image_url, logo_url)`;

/** The effective addresses, a line each, of links that meet a condition and have no operator's decision. */
export const readEffectiveAddresses = (
	db: Db,
	name: string,
	condition: Sql,
): Promise<Array<{id: string; addresses: string}>> =>
	run(db, prepared(name, sql`SELECT id, ${addressLines} AS addresses FROM (${effectiveOf(condition)}) AS links`));

/**
 * The next links by id without an operator's decision: their effective addresses, a line each and a blank line between two
 * links, in one text, which costs a third of their rows. `last` is null if there are none.
 */
export const readNextAddresses = async (
	db: Db,
	{after, limit}: {after: string; limit: number},
): Promise<{last: string | null; count: number; addresses: string | null}> => {
	const next = effectiveOf(sql`links.id > ${after}::uuid ORDER BY links.id LIMIT ${limit}`);
	return onlyRow(
		await run(
			db,
			prepared(
				'addresses of the next links',
				sql`SELECT (array_agg(id))[count(*)] AS last, count(*)::integer AS count,
						string_agg(${addressLines}, E'\n\n') AS addresses FROM (${next}) AS links`,
			),
		),
	);
};
